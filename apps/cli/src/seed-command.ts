import { migrateUp } from '@animal-store/database';
import type { Command } from 'commander';
import { integerParser } from './arguments.js';
import { AS_OWNER, withDatabase } from './database.js';
import type { Terminal } from './output.js';

const MAX_COUNT = 1_000_000_000;
const NAMES =
  'Alma Apollo Archie Bella Biscuit Bruno Charlie Cleo Daisy Echo Felix Freya Ginger Hugo Iris Juno Kiki Luna Max Milo Nala Otto Poppy Rex Ruby Simba Teddy Willow Zoe';
/** The kinds of animals. The id of a category is the index of the kind, divided by 4. */
const KINDS = 'Beagle,Corgi,Poodle,Whippet,Bengal,Manx,Persian,Siamese,Angora,Lionhead,Lop,Rex Rabbit,Canary,Cockatiel,Conure,Lovebird';

/** Without `ORDER BY` and joins, `random()` is called in the order of the rows, so equal seeds give equal pets. */
const INSERT = `
  INSERT INTO pets.pets (name, category_id, status)
  SELECT names[1 + floor(random() * cardinality(names))::int] || ' the ' || kinds[kind], 1 + (kind - 1) / 4,
    CASE WHEN share < 0.0001 THEN 'pending' WHEN share < 0.2 THEN 'sold' ELSE 'available' END
  FROM (
    SELECT string_to_array($2, ' ') AS names, string_to_array($3, ',') AS kinds, 1 + floor(random() ^ 2 * 16)::int AS kind, random() AS share
    FROM generate_series(1, $1::bigint) OFFSET 0
  ) AS rolled`;

export function addSeedCommand(program: Command, terminal: Terminal): void {
  program
    .command('seed')
    .description('Add demo animals. The same seed generates the same animals.')
    .requiredOption('--count <n>', 'number of animals', integerParser(1, MAX_COUNT))
    .option('--seed <n>', 'seed of the generator', integerParser(0, MAX_COUNT), 1)
    .action(async ({ count, seed }: Record<'count' | 'seed', number>) => {
      const added = await withDatabase(terminal, AS_OWNER, async (database, isLocal) => {
        if (isLocal) await migrateUp(database);
        const inserted = await database.transaction(async (manager) => {
          await manager.query('SELECT setseed($1)', [seed / MAX_COUNT]);
          return manager.queryRunner?.query(INSERT, [count, NAMES, KINDS], true);
        });
        // Vacuums and updates the planner statistics now instead of waiting for autovacuum.
        await database.query('VACUUM (ANALYZE) pets.pets');
        return inserted?.affected ?? 0;
      });
      await terminal.stdout(`Added ${added.toLocaleString('en')} pets.\n`);
    });
}
