import { createPet, listPets } from './generated';
import { headers, run, withKey } from './program';

void run(
  (pet) => createPet(pet, withKey),
  (query) => listPets(query, { headers }),
);
