import { AnimalStore, APIError } from '@animal-store/client';

const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: 'http://localhost:3000' });

try {
  await client.pets.list({ limit: 0 });
} catch (error) {
  if (!(error instanceof APIError)) throw error;
  console.log(error.status, error.code, error.retryable ? 'retry' : 'do not retry');
}
