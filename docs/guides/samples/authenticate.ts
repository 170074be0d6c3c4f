import { AnimalStore } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

const page = await client.pets.list();
console.log(page.data.length > 0);
