import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

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

/** Executes statements on a new connection and returns the rows of the last one. A text may contain several statements. */
export async function query<Row extends object = Record<string, unknown>>(url: string, ...texts: readonly string[]): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  // A lost connection rejects the statement. Without a listener, it would also crash the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const text of texts) rows = [await client.query<Row>(text)].flat().at(-1)?.rows ?? [];
    return rows;
  } finally {
    await client.end();
  }
}

/** Settings that change how values are written, what a statement means, or what a commit guarantees. */
const ODD_SETTINGS = {
  array_nulls: 'off',
  bytea_output: 'escape',
  DateStyle: 'German',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  exit_on_error: 'on',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  IntervalStyle: 'sql_standard',
  lock_timeout: '1',
  standard_conforming_strings: 'off',
  synchronous_commit: 'off',
  TimeZone: 'Asia/Kolkata',
  transform_null_equals: 'on',
  xmlbinary: 'hex',
};

/** Sets the settings for new sessions of the database. Has no timeouts that would stop a session of the spec itself. */
export async function setOddSettings(url: string): Promise<void> {
  const values = Object.entries(ODD_SETTINGS).map(([name, value]) => `('${name}', '${value}')`);
  await query(
    url,
    `DO $$
     DECLARE odd record;
     BEGIN
       FOR odd IN VALUES ${values.join(', ')} LOOP
         EXECUTE format('ALTER DATABASE %I SET %s = %L', current_database(), odd.column1, odd.column2);
       END LOOP;
     END $$`,
  );
}
