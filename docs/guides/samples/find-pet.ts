import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

const [pet] = (await client.pets.list({ id: 2n })).data;
console.log(pet ? pet.name : 'not found');
