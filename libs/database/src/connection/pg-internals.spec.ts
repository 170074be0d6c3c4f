import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import { Connection, Pool } from 'pg';
import { DatabaseClient } from './database-client.js';

/** After an update, compare pg-internals.ts with the new code, then change the version here. */
it.each([
  ['pg', '8.23.1'],
  ['pg-pool', '3.14.0'],
])('the inside of %s is that of the version %s', (name, version) => {
  const ofPg = createRequire(createRequire(import.meta.url).resolve('pg'));
  const manifest = `${ofPg.resolve(name).split(`/node_modules/${name}/`)[0] ?? ''}/node_modules/${name}/package.json`;
  expect(JSON.parse(readFileSync(manifest, 'utf8'))).toMatchObject({ version });
});

it('clients, connections and pools have the members that this library uses', () => {
  const client = new DatabaseClient({ url: 'postgres://store@db.example/catalogue' });
  expect(client).toMatchObject({ processID: null, host: 'db.example', port: 5432, ssl: false });
  expect(client.getStartupConf()).toMatchObject({ user: 'store', database: 'catalogue' });
  expect(client.connection).toMatchObject({ ssl: false, parsedStatements: {}, submittedNamedStatements: {} });
  expect(client.connection).toBeInstanceOf(Connection);
  const methods = (prototype: object, ...names: string[]) => names.filter((name) => typeof prototype[name as keyof object] === 'function');
  expect(methods(client.connection, 'parse', 'bind', 'execute', 'sync', 'close', 'attachListeners')).toHaveLength(6);
  expect(methods(Pool.prototype, '_release', '_acquireClient')).toHaveLength(2);
  expect(new Pool()).toMatchObject({ _idle: [] });
});
