import createClient from 'openapi-fetch';
import { exactFetch } from './exact-json';
import { rex, run } from './program';
import type { paths } from './schema';

const headers = { Authorization: `Bearer ${process.env['API_KEY']}` };
const client = createClient<paths>({ baseUrl: `${process.env['BASE_URL']}/v1`, headers, fetch: exactFetch });
// The types have `number` for int64.
const categoryId = rex.categoryId as unknown as number;
const params = { header: { 'Idempotency-Key': 'import-1' } };

void run({
  add: async (name) => {
    const { data, error } = await client.POST('/pets', { params, body: { name, categoryId } });
    return data ?? error;
  },
  list: async (query) => {
    const { data, response } = await client.GET('/pets', { params: { query } });
    return { pets: data ?? [], response };
  },
});
