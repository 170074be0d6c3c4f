import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

// Identifiers are bigint.
const pet = await client.pets.create({ name: 'Rex', categoryId: 9007199254740993n });
console.log(String(pet.categoryId));
