import { AnimalStore, MemoryCache } from '@animal-store/client';

// With a cache, the client sends If-None-Match.
const client = new AnimalStore({
  apiKey: process.env.API_KEY,
  baseURL: 'http://localhost:3000',
  cache: new MemoryCache(),
});

await client.pets.list({ status: 'available' });
const { response } = await client.pets.list({ status: 'available' }).withResponse();
console.log(response.status === 304 ? 'unchanged' : 'changed');
