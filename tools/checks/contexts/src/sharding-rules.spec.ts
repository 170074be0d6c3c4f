import { describe, expect, it } from '@jest/globals';
import { shardingViolations } from './sharding-rules.js';

const shards = new Map([
  ['pets.pets', 'id'],
  ['pets.idempotency_keys', 'key'],
]);

describe('shardingViolations finds', () => {
  it.each([
    ['FOR UPDATE without the shard column', `SELECT id FROM pets.pets WHERE status = 'sold' FOR UPDATE SKIP LOCKED`],
    ['FOR UPDATE without the shard column', `DELETE FROM pets.pets WHERE id IN (SELECT id FROM pets.pets LIMIT 5 FOR UPDATE)`],
    ['FOR UPDATE without the shard column', 'SELECT id FROM pets.pets WHERE id > $1 FOR NO KEY UPDATE'],
    ['a join of distributed tables', 'SELECT 1 FROM pets.idempotency_keys AS k LEFT JOIN pets.pets AS p ON p.id = k.pet_id'],
    ['a join of distributed tables', 'SELECT 1 FROM pets.pets, LATERAL (SELECT * FROM pets.idempotency_keys WHERE pet_id = pets.id) AS k'],
    [
      'LIMIT or OFFSET in a lateral subquery of a distributed table',
      'SELECT 1 FROM unnest($1::int[]) AS page CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT id FROM pets.pets LIMIT page) AS p) AS list',
    ],
    [
      'LIMIT or OFFSET in a lateral subquery of a distributed table',
      'SELECT 1 FROM unnest($1::text[]) AS w (k) CROSS JOIN LATERAL (SELECT * FROM pets.idempotency_keys WHERE key = w.k OFFSET 0) AS r',
    ],
    ['a shard column compared with a subquery', 'SELECT name FROM pets.pets WHERE id = ANY ((SELECT $1::bigint[])::bigint[])'],
    ['a change of the shard column', 'UPDATE pets.pets SET id = 5 WHERE id = 4'],
    ['max() of identifiers', 'SELECT max(id) FROM pets.pets'],
    ['lastval() of identifiers', 'SELECT lastval() FROM pets.pets'],
    ['arithmetic with identifiers', 'SELECT id + 1 FROM pets.pets'],
    ['the order of RETURNING', `INSERT INTO pets.pets (name) VALUES ('a'), ('b') RETURNING id`],
    ['the order of RETURNING', 'INSERT INTO pets.pets (name) SELECT unnest($1::text[]) RETURNING id'],
    ['the order of RETURNING', 'WITH added AS (INSERT INTO pets.pets (name) SELECT unnest($1::text[]) RETURNING id) SELECT id FROM added'],
  ])('%s in %s', async (violation, sql) => {
    expect(await shardingViolations(sql, shards)).toEqual([violation]);
  });
});

describe('shardingViolations allows', () => {
  it.each([
    'SELECT id FROM pets.pets WHERE id = $1 FOR UPDATE',
    'SELECT id FROM access.clients WHERE name = $1 FOR UPDATE',
    'SELECT id FROM pets.pets WHERE id = ANY ($1::bigint[])',
    'SELECT id FROM pets.pets WHERE id >= ($1::bigint[])[1] ORDER BY id LIMIT ($2::integer[])[1] + 1',
    'SELECT max(created_at) FROM pets.idempotency_keys',
    `INSERT INTO pets.pets (name) VALUES ('a') RETURNING id`,
    'WITH added AS (INSERT INTO pets.pets (name) SELECT unnest($1::text[]) RETURNING id) SELECT id FROM added ORDER BY id',
    'WITH added AS (INSERT INTO pets.pets (id) SELECT id FROM given RETURNING id) SELECT ordinal FROM given JOIN added ON added.id = given.id',
    'DELETE FROM pets.idempotency_keys WHERE (client_id, key) IN (SELECT client_id, key FROM pets.idempotency_keys ORDER BY created_at LIMIT 5)',
    'SELECT 1',
    'BEGIN',
  ])('%s', async (sql) => {
    expect(await shardingViolations(sql, shards)).toEqual([]);
  });
});
