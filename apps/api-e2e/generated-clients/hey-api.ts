import { exactFetch } from './exact-json';
import { createPet, listPets } from './generated';
import { client } from './generated/client.gen';
import { baseUrl, headers, run, withKey } from './program';

client.setConfig({ baseUrl, headers, bodySerializer: JSON.stringify, fetch: exactFetch });
void run(
  (body) => createPet({ ...withKey, body }),
  (query) => listPets({ query }),
);
