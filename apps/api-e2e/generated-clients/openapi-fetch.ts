import createClient from 'openapi-fetch';
import { exactFetch } from './exact-json';
import { baseUrl, headers, run } from './program';
import type { paths } from './schema';

const client = createClient<paths>({ baseUrl, headers, fetch: exactFetch });
void run(
  (body) => client.POST('/pets', { params: { header: { 'Idempotency-Key': 'import-1' } }, body }),
  (query) => client.GET('/pets', { params: { query } }),
);
