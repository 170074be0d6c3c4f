import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Ledger } from './ledger.js';

const error = (status: number) => JSON.stringify({ code: 'some_code', message: 'Some message.', status });
let ledger: Ledger;
beforeEach(() => {
  ledger = new Ledger();
});

describe('a response', () => {
  it('is counted by its status', () => {
    ledger.answered('listPets', 200, '[]');
    ledger.answered('listPets', 503, error(503), 7);
    ledger.answered('createPet', 503, error(503));
    expect(Object.fromEntries(ledger.statuses)).toEqual({ 200: 1, 503: 8 });
    expect(ledger.problems).toEqual([]);
  });

  it('is a problem with a status that the operation does not document', () => {
    ledger.answered('getPet', 418, error(418));
    expect(ledger.problems).toEqual([`getPet answered 418, which is not documented: ${error(418)}`]);
  });

  it.each(['', 'no JSON', '{}', error(500), JSON.stringify({ code: 1, message: '', status: 503 }), '{"code":"a","status":503}'])(
    'is a problem when an error has another shape: %s',
    (text) => {
      ledger.answered('listPets', 503, text);
      expect(ledger.problems).toEqual([`listPets answered 503 without the error shape: ${text}`]);
    },
  );
});

it('keeps twenty problems, each of bounded length', () => {
  for (let i = 0; i < 25; i++) ledger.problem('x'.repeat(1_000));
  expect(ledger.problems).toEqual([...Array.from({ length: 20 }, () => 'x'.repeat(300)), '… and more']);
});

it('reports a creation that was acknowledged with two ids', () => {
  ledger.created('chaos 1', '1');
  ledger.created('chaos 1', '1');
  expect(ledger.problems).toEqual([]);
  ledger.created('chaos 1', '2');
  expect(ledger.problems).toEqual(['chaos 1 was acknowledged as 1 and as 2']);
});

describe('the comparison with the database', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`CREATE SCHEMA pets CREATE TABLE pets (id bigint, name text)`);
    await client.query(`INSERT INTO pets.pets VALUES (1, 'chaos 1'), (2, 'chaos 2'), (3, 'chaos 2'), (4, 'Rex')`);
    await client.end();
  });
  afterAll(() => database.drop());

  it('finds acknowledged pets that are lost, and pets that are stored twice', async () => {
    for (const [name, id] of [
      ['chaos 1', '1'],
      ['chaos 2', '2'],
      ['chaos 3', '5'],
      ['chaos 4', '1'],
    ] as const)
      ledger.created(name, id);
    expect(await ledger.compare(database.url)).toEqual({ acknowledged: 4, stored: 3, lost: 2, duplicates: 1 });
    expect(ledger.problems).toEqual(['lost: chaos 3, acknowledged as 5', 'lost: chaos 4, acknowledged as 1', '1 animals are stored twice']);
  });
});
