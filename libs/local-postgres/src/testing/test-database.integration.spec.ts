import { describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase } from './test-database.js';

describe('createTestDatabase', () => {
  it('creates a separate empty database each time', async () => {
    const databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const names = await Promise.all(databases.map(({ url }) => currentDatabase(url)));
    expect(new Set(names).size).toBe(2);
    await Promise.all(databases.map((database) => database.drop()));
  });

  it('drops a database with open connections', async () => {
    const database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await database.drop();
    await expect(currentDatabase(database.url)).rejects.toMatchObject({ code: '3D000' });
    await client.end();
  });

  it('fails if TEST_POSTGRES_URL is missing', async () => {
    const { TEST_POSTGRES_URL: _, ...env } = process.env;
    jest.replaceProperty(process, 'env', env);
    await expect(createTestDatabase()).rejects.toThrow('TEST_POSTGRES_URL is not set');
    jest.restoreAllMocks();
  });
});

async function currentDatabase(url: string): Promise<string | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  await client.end();
  return rows[0]?.name;
}
