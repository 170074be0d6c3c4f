import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({
  apiKey: process.env.API_KEY,
  baseURL: 'http://localhost:3000',
  maxRetries: 5,
});

// Your record 4711 has the same key in each run of the program.
const pet = await client.pets.create({ name: 'Rex', categoryId: 7n }, { idempotencyKey: 'import-4711' });
console.log(`${pet.name} was added`);
