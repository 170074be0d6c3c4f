import { isClientName } from '@animal-store/access-domain';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { accessPersistence } from './access-persistence.js';

describeMigrations(accessPersistence);

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('the tables of the schema access', () => {
  const database = useDatabase(accessPersistence);

  it('accept the same characters in the name of a client as the domain', async () => {
    const [check] = await database.dataSource.query<[{ expression: string }]>(
      `SELECT pg_get_expr(conbin, conrelid) AS expression FROM pg_constraint WHERE conname = 'clients_name_check'`,
    );
    // The planes with letters, and the plane with the tags.
    const codePoints = [...range(0x1, 0xd7ff), ...range(0xe000, 0x1ffff), ...range(0xe0000, 0xe1000)];
    const rejected = await database.dataSource.query<{ n: number }[]>(
      `SELECT n FROM unnest($1::integer[]) AS n, LATERAL (SELECT 'a' || chr(n) || 'b' AS name) AS client WHERE NOT (${check.expression})`,
      [codePoints],
    );
    const rejectedByDomain = codePoints.filter((n) => !isClientName(`a${String.fromCodePoint(n)}b`));
    expect(rejectedByDomain.length).toBeGreaterThan(80);
    expect(rejected.map(({ n }) => n)).toEqual(rejectedByDomain);
  });

  it.each(['a', 'a b', 'x'.repeat(100), '🐕'.repeat(100), '', ' ', ' a', 'a ', 'a  b', 'é', 'e\u0301', 'x'.repeat(101), '🐕'.repeat(101)])(
    'let in the name %j of a client exactly when the domain does',
    async (name) => {
      const inserted = database.dataSource.query<object[]>('INSERT INTO access.clients (name) VALUES ($1) RETURNING id', [name]);
      await (isClientName(name) ? expect(inserted).resolves.toHaveLength(1) : expect(inserted).rejects.toThrow('clients_name_check'));
    },
  );

  /** Valid rows, by table. */
  const rows = {
    clients: { name: `'Acme'`, rate_limit: '0' },
    api_keys: {
      client_id: '(SELECT min(id) FROM access.clients)',
      hash: 'sha256(gen_random_uuid()::text::bytea)',
      prefix: `'ast_local_abcdef'`,
      scopes: `'{pets:read,pets:write}'`,
      created_at: 'now()',
      expires_at: 'now()',
      revoked_at: 'NULL',
    },
    audit_events: { operator: `'carol'`, action: `'create'`, client_id: '1', client_name: `'Acme'`, details: `'{}'` },
  };

  it.each<[table: keyof typeof rows, column: string, values: readonly string[], reason: string]>([
    ['api_keys', 'hash', [`'\\x00'`], 'api_keys_hash_check'],
    ['api_keys', 'prefix', [`'ast_Local_abcdef'`, `'ast_local_abcdefg'`], 'api_keys_prefix_check'],
    ['api_keys', 'scopes', [`'{}'`, `'{a:b,a:b}'`, `'{a:b,A:c}'`, `'{a:b,NULL}'`], 'api_keys_scopes_check'],
    ['api_keys', 'expires_at', [`now() - interval '1 minute'`], 'api_keys_expires_at_check'],
    ['api_keys', 'revoked_at', [`now() - interval '1 minute'`], 'api_keys_revoked_at_check'],
    ['api_keys', 'client_id', ['0'], 'api_keys_client_id_fkey'],
    ['api_keys', 'hash', ['NULL'], 'null value'],
    ['api_keys', 'prefix', ['NULL'], 'null value'],
    ['api_keys', 'scopes', ['NULL'], 'null value'],
    ['api_keys', 'created_at', ['NULL'], 'null value'],
    ['api_keys', 'client_id', ['NULL'], 'null value'],
    ['clients', 'name', ['NULL'], 'null value'],
    ['clients', 'name', [`'Acme'`], 'clients_name_key'],
    ['clients', 'rate_limit', ['-1', '1000000001'], 'clients_rate_limit_check'],
    ['audit_events', 'action', [`'forget'`], 'audit_events_action_check'],
    ['audit_events', 'operator', [`''`, `repeat('x', 101)`], 'audit_events_operator_check'],
  ])('reject a row of %s whose %s is one of %j', async (table, column, values, reason) => {
    await database.empty();
    const insert = (name: keyof typeof rows, changes: Record<string, string> = {}) => {
      const row = { ...rows[name], ...changes };
      return database.dataSource.query(`INSERT INTO access.${name} (${Object.keys(row).join()}) VALUES (${Object.values(row).join()})`);
    };
    for (const name of ['clients', 'api_keys', 'audit_events'] as const) await insert(name);
    for (const value of values) await expect(insert(table, { [column]: value })).rejects.toThrow(reason);
  });
});
