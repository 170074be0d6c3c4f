import { AnimalStore, MemoryCache } from '@animal-store/client';

// With a cache, the client sends If-None-Match.
const client = new AnimalStore({
  apiKey: process.env.API_KEY,
  baseURL: 'http://localhost:3000',
  cache: new MemoryCache(),
});

const first = await client.pets.list({ status: 'available' });
const second = await client.pets.list({ status: 'available' });
console.log(first.data.length === second.data.length ? 'unchanged' : 'changed');
