import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

for await (const pet of client.pets.list({ limit: 2 })) {
  console.log(pet.name);
}
