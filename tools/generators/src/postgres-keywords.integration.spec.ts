import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { POSTGRES_KEYWORDS } from './postgres-keywords.js';

it('the reserved words match those of PostgreSQL', async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ word: string }>(`SELECT word FROM pg_get_keywords() WHERE catcode IN ('R', 'T') ORDER BY word`);
  await client.end();
  await database.drop();
  expect(POSTGRES_KEYWORDS.toSorted()).toEqual(rows.map(({ word }) => word).sort());
});
