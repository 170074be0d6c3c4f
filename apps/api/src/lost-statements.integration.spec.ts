import { poolOf } from '@animal-store/database';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { createLogger } from './observability/logger.js';
import { startTestApp, type TestApp } from './testing/test-app.js';

const lines: string[] = [];
let service: TestApp;
let key: string;

beforeAll(async () => {
  const logger = createLogger('error', { write: (line: string) => void lines.push(line) });
  service = await startTestApp({ env: { DATABASE_POOL_SIZE: '1' }, logger });
  key = await service.createKey('pets:read');
});
afterAll(() => service.close());

async function list(): Promise<{ status: number; retryAfter: string | null }> {
  const response = await fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
}

/** Removes all prepared statements, like a pooler that uses another connection for the next transaction. */
const loseStatements = () => poolOf(service.app.get(DataSource)).query('DEALLOCATE ALL');

it('responds with 503 if a named statement is lost, and logs the setting of the pooler once', async () => {
  for (let i = 0; i < 3; i++) {
    expect((await list()).status).toBe(200);
    await loseStatements();
    expect(await list()).toEqual({ status: 503, retryAfter: '1' });
  }
  expect((await list()).status).toBe(200);
  expect(lines.filter((line) => line.includes('max_prepared_statements'))).toHaveLength(1);
});
