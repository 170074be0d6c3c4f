import { createTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { run } from '../program.js';
import type { Terminal } from '../output.js';

export const KEY = /ast_[a-z]+_[0-9A-Za-z]{49}/;

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KeyJson {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly expiresAt: string | null;
}

/** Runs a command line in this process, with only these environment variables. In tests, settings of contexts have defaults. */
export async function runAnimalStore(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  output: Partial<Terminal> = {},
): Promise<Outcome> {
  let [stdout, stderr] = ['', ''];
  const exitCode = await run(args, {
    env: { NODE_ENV: 'test', ...env },
    stdout: async (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
    ...output,
  });
  return { exitCode, stdout, stderr };
}

export const json = <T>({ stdout }: Outcome) => JSON.parse(stdout) as T;

/** The database of a spec file, and a function that runs a command line on it in this process. */
export interface AnimalStoreOnDatabase {
  readonly url: string;
  run(...args: readonly string[]): Promise<Outcome>;
}

/** Creates a database before the tests of the file and drops it after them. It is empty, or has all migrations. */
export function useAnimalStore({ migrated = true } = {}): AnimalStoreOnDatabase {
  let database: TestDatabase;
  const run = (...args: readonly string[]) => runAnimalStore({ DATABASE_URL: database.url }, args);
  beforeAll(async () => {
    database = await createTestDatabase();
    await setOddSettings(database.url);
    if (migrated) await run('migrate', 'up');
  });
  afterAll(() => database.drop());
  return {
    get url() {
      return database.url;
    },
    run,
  };
}
