import { isClientName } from '@animal-store/access-domain';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { accessPersistence } from './access-persistence.js';

describeMigrations(accessPersistence);

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('the tables of the schema access', () => {
  const database = useDatabase(accessPersistence);

  const insertClient = (name: string | null) =>
    database.dataSource.query<{ id: bigint }[]>('INSERT INTO access.clients (name) VALUES ($1) RETURNING id', [name]);

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
      const inserted = insertClient(name);
      await (isClientName(name) ? expect(inserted).resolves.toHaveLength(1) : expect(inserted).rejects.toThrow('clients_name_check'));
    },
  );

  it.each([
    ['hash', `'\\x00'`, 'api_keys_hash_check'],
    ['hash', 'NULL', 'null value in column "hash"'],
    ['prefix', `'ast_Local_abcdef'`, 'api_keys_prefix_check'],
    ['prefix', `'ast_local_abcdefg'`, 'api_keys_prefix_check'],
    ['prefix', 'NULL', 'null value in column "prefix"'],
    ['scopes', `'{}'`, 'api_keys_scopes_check'],
    ['scopes', `'{pets:read,pets:read}'`, 'api_keys_scopes_check'],
    ['scopes', `'{pets:read,Pets:write}'`, 'api_keys_scopes_check'],
    ['scopes', `'{pets:read,NULL}'`, 'api_keys_scopes_check'],
    ['scopes', 'NULL', 'null value in column "scopes"'],
    ['created_at', 'NULL', 'null value in column "created_at"'],
    ['expires_at', `now() - interval '1 minute'`, 'api_keys_expires_at_check'],
    ['revoked_at', `now() - interval '1 minute'`, 'api_keys_revoked_at_check'],
    ['client_id', '0', 'api_keys_client_id_fkey'],
    ['client_id', 'NULL', 'null value in column "client_id"'],
  ])('reject a key whose %s is %s', async (column, value, reason) => {
    const columns = {
      client_id: '(SELECT min(id) FROM access.clients)',
      hash: 'sha256(gen_random_uuid()::text::bytea)',
      prefix: `'ast_local_abcdef'`,
      scopes: `'{pets:read,pets:write}'`,
      created_at: 'now()',
      expires_at: 'now()',
      revoked_at: 'NULL',
    };
    const insert = (values: Record<string, string>) =>
      database.dataSource.query(
        `INSERT INTO access.api_keys (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).join(', ')})`,
      );
    await insert(columns);
    await expect(insert({ ...columns, [column]: value })).rejects.toThrow(reason);
  });

  it('reject a rate limit out of range and an audit event with an invalid action or operator', async () => {
    await insertClient('limited');
    const setLimit = (limit: string) => database.dataSource.query(`UPDATE access.clients SET rate_limit = ${limit} WHERE name = 'limited'`);
    for (const limit of ['0', '1000000000', 'NULL']) await setLimit(limit);
    for (const limit of ['-1', '1000000001']) await expect(setLimit(limit)).rejects.toThrow('clients_rate_limit_check');
    const insertEvent = (action: string, operator: string) =>
      database.dataSource.query(
        `INSERT INTO access.audit_events (action, operator, client_id, client_name, details) VALUES ($1, $2, 1, 'limited', '{}')`,
        [action, operator],
      );
    await insertEvent('create', 'carol');
    await expect(insertEvent('forget', 'carol')).rejects.toThrow('audit_events_action_check');
    for (const operator of ['', 'x'.repeat(101)])
      await expect(insertEvent('create', operator)).rejects.toThrow('audit_events_operator_check');
  });

  it('reject a client without a name or with an existing one', async () => {
    await insertClient('acme');
    await expect(insertClient('acme')).rejects.toThrow('clients_name_key');
    await expect(insertClient(null)).rejects.toThrow('null value in column "name"');
  });
});
