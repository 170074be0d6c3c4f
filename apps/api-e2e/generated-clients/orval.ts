import { createPet, listPets } from './generated';
import { rex, run } from './program';

void run({
  add: async (name) => {
    const answer = await createPet({ ...rex, name }, { headers: { 'Idempotency-Key': 'import-1' } });
    if (answer.status !== 201 && answer.status !== 422) throw new Error(answer.data.code);
    return answer.data;
  },
  list: async (query) => {
    const response = await listPets(query);
    if (response.status !== 200) throw new Error('no page');
    return { pets: response.data, response };
  },
});
