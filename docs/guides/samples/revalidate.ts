import { AnimalStore, APIError } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

const { response } = await client.pets.list({ status: 'available' }).withResponse();
const headers = { 'If-None-Match': response.headers.get('ETag') ?? '' };
try {
  await client.pets.list({ status: 'available' }, { headers });
  console.log('changed');
} catch (error) {
  if (!(error instanceof APIError) || error.status !== 304) throw error;
  console.log('unchanged');
}
