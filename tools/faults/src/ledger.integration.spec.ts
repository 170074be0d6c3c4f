import { createTestDatabase, query } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Ledger } from './ledger.js';

const error = (status: number) => JSON.stringify({ code: 'some_code', message: 'Some message.', status });
let ledger: Ledger;
beforeEach(() => {
  ledger = new Ledger();
});

describe('a response', () => {
  it('is counted by its status', () => {
    ledger.recordResponse('listPets', 200, '[]');
    ledger.recordResponse('listPets', 503, error(503), 7);
    ledger.recordResponse('createPet', 503, error(503));
    expect(Object.fromEntries(ledger.statuses)).toEqual({ 200: 1, 503: 8 });
    expect(ledger.problems).toEqual([]);
  });

  it('is a problem with a status that the operation does not document', () => {
    ledger.recordResponse('getPet', 418, error(418));
    expect(ledger.problems).toEqual([`getPet returned 418, which is not documented: ${error(418)}`]);
  });

  it.each(['', 'no JSON', '{}', error(500), JSON.stringify({ code: 1, message: '', status: 503 }), '{"code":"a","status":503}'])(
    'is a problem if the error body is invalid: %s',
    (text) => {
      ledger.recordResponse('listPets', 503, text);
      expect(ledger.problems).toEqual([`listPets returned 503 without a valid error body: ${text}`]);
    },
  );
});

it('keeps twenty problems, each of bounded length', () => {
  for (let i = 0; i < 25; i++) ledger.addProblem('x'.repeat(1_000));
  expect(ledger.problems).toEqual([...Array.from({ length: 20 }, () => 'x'.repeat(300)), '… and more']);
});

it('reports a creation that was acknowledged with two ids', () => {
  ledger.recordCreation('chaos 1', '1');
  ledger.recordCreation('chaos 1', '1');
  expect(ledger.problems).toEqual([]);
  ledger.recordCreation('chaos 1', '2');
  expect(ledger.problems).toEqual(['chaos 1 was acknowledged with the ids 1 and 2']);
});

describe('the comparison with the database', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  beforeAll(async () => {
    database = await createTestDatabase();
    await query(
      database.url,
      `CREATE SCHEMA pets CREATE TABLE pets (id bigint, name text)`,
      `INSERT INTO pets.pets VALUES (1, 'chaos 1'), (2, 'chaos 2'), (3, 'chaos 2'), (4, 'Rex')`,
    );
  });
  afterAll(() => database.drop());

  it('finds acknowledged pets that are lost, and duplicate pets', async () => {
    for (const [name, id] of [
      ['chaos 1', '1'],
      ['chaos 2', '2'],
      ['chaos 3', '5'],
      ['chaos 4', '1'],
    ] as const)
      ledger.recordCreation(name, id);
    expect(await ledger.compare(database.url)).toEqual({ acknowledged: 4, stored: 3, lost: 2, duplicates: 1 });
    expect(ledger.problems).toEqual([
      'lost: chaos 3, acknowledged with id 5',
      'lost: chaos 4, acknowledged with id 1',
      '1 animals are duplicates',
    ]);
  });
});
