import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

for await (const pet of client.pets.list({ status: 'available', limit: 100 })) {
  console.log(pet.name);
}
