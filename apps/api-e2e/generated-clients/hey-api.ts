import { exactFetch } from './exact-json';
import { createPet, listPets } from './generated';
import { client } from './generated/client.gen';
import { rex, run } from './program';

const { API_KEY, BASE_URL } = process.env;
client.setConfig({ auth: API_KEY, baseUrl: `${BASE_URL}/v1`, bodySerializer: JSON.stringify, fetch: exactFetch });

void run({
  add: async (name) => {
    const { data, error } = await createPet({ headers: { 'Idempotency-Key': 'import-1' }, body: { ...rex, name } });
    return data ?? error!;
  },
  list: async (query) => {
    const { data, response } = await listPets({ query });
    return { pets: data ?? [], response: response! };
  },
});
