import { connectAccessUseCases, type ConnectedAccessUseCases } from '@animal-store/access-infrastructure';
import { migrateIfLocal, withDatabase } from './database.js';
import { operatorOf } from './operator.js';
import type { Terminal } from './terminal.js';

interface Options {
  /** Migrates the local database first. */
  readonly migrate?: boolean;
}

/** Runs `work` on clients and keys, and prints its result, if any. */
export async function withAccessUseCases(
  terminal: Terminal,
  work: (access: ConnectedAccessUseCases) => Promise<string | undefined>,
  { migrate = false }: Options = {},
): Promise<void> {
  const operator = operatorOf(terminal);
  await withDatabase(terminal, async (database) => {
    if (migrate) await migrateIfLocal(database);
    const access = await connectAccessUseCases(database.url, operator);
    try {
      const text = await work(access);
      if (text !== undefined) terminal.stdout.write(text);
    } finally {
      await access.close();
    }
  });
}
