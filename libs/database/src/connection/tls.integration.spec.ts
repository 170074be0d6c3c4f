import {
  type Certificates,
  createCertificates,
  createTestDatabase,
  DurablePostgres,
  type TestDatabase,
} from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../database.js';
import { DatabaseClient } from './database-client.js';
import { isDatabaseUnavailable } from './error-meaning.js';

let certificates: Certificates;
let server: DurablePostgres;
let plain: TestDatabase;
const warnings: Error[] = [];
const collectWarning = (warning: Error) => warnings.push(warning);

beforeAll(async () => {
  process.on('warning', collectWarning);
  certificates = await createCertificates();
  const { ca, certificate, key } = certificates;
  server = await DurablePostgres.start(['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, `ssl_ca_file=${ca}`]);
  plain = await createTestDatabase();
});

afterAll(async () => {
  process.off('warning', collectWarning);
  await plain.drop();
  await server.remove();
  await certificates.remove();
});

type Outcome = 'TLS' | 'no TLS' | RegExp;

/** Returns whether the connection is encrypted, or the message of the error if it fails. */
async function connect(base: string, host: string, parameters: string): Promise<string> {
  const url = new URL(base);
  url.hostname = host;
  url.search = parameters.replace(/\b(?:OTHER|CA)\b/, (name) => (name === 'CA' ? certificates.ca : certificates.otherCa));
  const client = new DatabaseClient({ url: url.href });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows[0]?.ssl ? 'TLS' : 'no TLS';
  } catch (error) {
    expect(isDatabaseUnavailable(error)).toBe(true);
    return (error as Error).message;
  } finally {
    await client.end();
  }
}

const NO_TLS = /^The server does not support SSL connections$/;
const UNKNOWN_CA = /^(?:self-signed certificate|unable to)/;
const WRONG_NAME = /(?:does not match|altnames)/;

const expectOutcome = (outcome: string, expected: Outcome) =>
  typeof expected === 'string' ? expect(outcome).toBe(expected) : expect(outcome).toMatch(expected);

describe.each<[parameters: string, byAddress: Outcome, byName: Outcome, withoutTls: Outcome]>([
  ['', 'no TLS', 'no TLS', 'no TLS'],
  ['sslmode=disable', 'no TLS', 'no TLS', 'no TLS'],
  ['sslmode=require', 'TLS', 'TLS', NO_TLS],
  ['sslmode=require&sslrootcert=CA', 'TLS', 'TLS', NO_TLS],
  ['sslmode=require&sslrootcert=OTHER', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
  ['sslmode=verify-ca&sslrootcert=CA', 'TLS', 'TLS', NO_TLS],
  ['sslmode=verify-ca&sslrootcert=OTHER', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
  ['sslmode=verify-full&sslrootcert=CA', WRONG_NAME, 'TLS', NO_TLS],
  ['sslmode=verify-full&sslrootcert=OTHER', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
  ['sslmode=verify-full', UNKNOWN_CA, UNKNOWN_CA, NO_TLS],
])('%j', (parameters, byAddress, byName, withoutTls) => {
  it('has the same effect as in libpq', async () => {
    expectOutcome(await connect(server.url, '127.0.0.1', parameters), byAddress);
    expectOutcome(await connect(server.url, 'localhost', parameters), byName);
    expectOutcome(await connect(plain.url, new URL(plain.url).hostname, parameters), withoutTls);
  });
});

it('sslcert and sslkey set the client certificate', async () => {
  const { certificate, key } = certificates;
  const url = (parameters: string) => `${server.url}?sslmode=require${parameters}`;
  const nameOf = async (parameters: string) => {
    const client = new DatabaseClient({ url: url(parameters) });
    await client.connect();
    const { rows } = await client.query<object>('SELECT client_dn AS name FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    await client.end();
    return rows;
  };
  expect(await nameOf('')).toEqual([{ name: null }]);
  expect(await nameOf(`&sslcert=${certificate}&sslkey=${key}`)).toEqual([{ name: '/CN=localhost' }]);
});

it('sslmode applies to a pool without a warning', async () => {
  const url = `${server.url}?sslmode=require`;
  const dataSource = await new Database({ url, applicationName: 'spec', poolSize: 1, persistence: [] }).initialize();
  const { rows } = await dataSource.pool.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
  expect(rows).toEqual([{ ssl: true }]);
  await dataSource.destroy();
  expect(warnings).toEqual([]);
});
