import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { query } from './query.js';

/** Serialises the creation of templates among the spec files. */
const TEMPLATE_LOCK = 5_839_201;

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database on the server in TEST_POSTGRES_URL. The global set-up of the integration specs sets this variable. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = newName();
  await query(serverUrl(), `CREATE DATABASE ${name} STRATEGY file_copy`);
  return testDatabase(name);
}

/** Creates a copy of a template database. `prepare` fills the template, once for each server. */
export async function copyTestDatabase(template: string, prepare: (url: string) => Promise<void>): Promise<TestDatabase> {
  const name = newName();
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [template]);
    if (rowCount === 0) {
      const unfinished = `${template}_unfinished`;
      await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${unfinished} STRATEGY file_copy`);
      await prepare(urlOf(unfinished));
      await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${template}`);
    }
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  } finally {
    await client.end();
  }
  return testDatabase(name);
}

function testDatabase(name: string): TestDatabase {
  return {
    url: urlOf(name),
    async drop() {
      await query(serverUrl(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

const newName = () => `test_${randomBytes(8).toString('hex')}`;

function urlOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

function serverUrl(): string {
  const server = process.env['TEST_POSTGRES_URL'];
  if (!server) throw new Error('TEST_POSTGRES_URL is not set: name the spec *.integration.spec.ts, or start a server for it.');
  return server;
}
