import { Command } from 'commander';
import { integerParser, parseShare } from './arguments.js';
import { migrateIfLocal, withDatabase } from './database.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { toJson } from './output.js';
import { progressBar } from './progress-bar.js';
import { seedPets } from './seed-pets.js';
import type { Terminal } from './terminal.js';

const MAX_COUNT = 1_000_000_000;

interface Options {
  readonly count: number;
  readonly seed: number;
  readonly pendingShare: number;
  readonly soldShare: number;
  readonly json?: boolean;
}

export function seedCommand(terminal: Terminal): Command {
  return new Command('seed')
    .description('Add demo animals. The same seed generates the same animals.')
    .requiredOption('--count <n>', 'number of animals', integerParser(1, MAX_COUNT))
    .option('--seed <n>', 'seed of the generator', integerParser(0, 2 ** 32 - 1), 1)
    .option('--pending-share <share>', 'share of pending animals, from 0 to 1', parseShare, 0.0001)
    .option('--sold-share <share>', 'share of sold animals, from 0 to 1', parseShare, 0.2)
    .option('--json', 'print JSON')
    .action(async ({ json = false, ...options }: Options) => {
      if (options.pendingShare + options.soldShare > 1)
        throw new CliError('--pending-share and --sold-share must not add up to more than 1', EXIT_USAGE);
      await withDatabase(terminal, async (database) => {
        await migrateIfLocal(database);
        const progress = progressBar(json ? { write: () => undefined } : terminal.stderr, options.count);
        const startedAt = performance.now();
        const byStatus = await seedPets(database.url, options, progress.update).finally(progress.clear);
        const seconds = (performance.now() - startedAt) / 1000;
        const counts = Object.entries(byStatus).map(([status, count]) => `${count.toLocaleString('en')} ${status}`);
        terminal.stdout.write(
          json
            ? toJson({ count: options.count, seed: options.seed, byStatus, seconds: Number(seconds.toFixed(3)) })
            : `Added ${options.count.toLocaleString('en')} pets in ${seconds.toFixed(1)} s: ${counts.join(', ')}.\n`,
        );
      });
    });
}
