import { expect, it } from '@jest/globals';
import { Client } from 'pg';
import { startTestApp } from './testing/test-app.js';

it('a process continues to work after migrations of the next release have added columns', async () => {
  let url = '';
  const service = await startTestApp({ databaseUrl: (given) => (url = given) });
  const authorization = `Bearer ${await service.createKey('pets:read', 'pets:write')}`;
  const send = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    });
    return `${String(response.status)} ${await response.text()}`;
  };
  const pet = (id: number) => `{"id":${String(id)},"name":"Rex","categoryId":7,"status":"sold"}`;
  const body = '{"name":"Rex","categoryId":7,"status":"sold"}';
  const useAll = async (first: number) => {
    const key = { 'idempotency-key': `key-${String(first)}` };
    expect(await send('POST', '/v1/pets', {}, body)).toBe(`201 ${pet(first)}`);
    expect(await send('POST', '/v1/pets', key, body)).toBe(`201 ${pet(first + 1)}`);
    expect(await send('POST', '/v1/pets', key, body)).toBe(`201 ${pet(first + 1)}`);
    expect(await send('GET', `/v1/pets/${String(first)}`)).toBe(`200 ${pet(first)}`);
    const expectedIds = Array.from({ length: first + 1 }, (_, n) => n + 1).filter((id) => id % 3 !== 0);
    expect(await send('GET', '/v1/pets?status=sold')).toBe(`200 [${expectedIds.map(pet).join()}]`);
    expect(await send('GET', '/health/ready')).toBe('200 {"status":"ok"}');
  };

  // After this, the connections have prepared statements.
  await useAll(1);
  const database = new Client({ connectionString: url });
  await database.connect();
  for (const table of ['pets.pets', 'pets.idempotency_keys', 'access.clients', 'access.api_keys']) {
    await database.query(`ALTER TABLE ${table} ADD COLUMN added_later text NOT NULL DEFAULT 'x'`);
  }
  await database.query(`INSERT INTO schema_migrations (timestamp, name) VALUES (9999999999999, 'AddLater9999999999999')`);
  await useAll(4);
  await database.end();
  await service.close();
});
