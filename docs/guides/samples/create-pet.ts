import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

const pet = await client.pets.create({ name: 'Rex', categoryId: 7n });
console.log(`${pet.name} is ${pet.status}`);
