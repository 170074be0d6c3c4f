import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll } from '@jest/globals';

/** Folder of the program: by default the deployed bundle, for coverage the compiled files. */
const FOLDER = process.env['PROGRAM_FOLDER'] ?? 'bundle';
const MAIN = fileURLToPath(new URL(`../../${FOLDER}/main.js`, import.meta.url));

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

/** Runs the built program with only the environment variables that a process needs. */
export const runAnimalStore = (environment: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  runAnimalStoreIn('.', environment, ...args);

export function runAnimalStoreIn(cwd: string, environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome> {
  const { PATH, HOME, SystemRoot, TEMP } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { cwd, env: { PATH, HOME, SystemRoot, TEMP, ...environment } },
      (_, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** Runs the program with a reader that closes stdout before the program writes. */
export async function runAnimalStoreWithoutReader(...args: readonly string[]): Promise<Omit<Outcome, 'stdout'>> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const exited = once(child, 'close');
  const stderr = await text(child.stderr);
  await exited;
  return { exitCode: child.exitCode ?? -1, stderr };
}

export const json = <T>({ stdout }: Outcome) => JSON.parse(stdout) as T;

/** The database of a spec file, and a function that runs the program on it. */
export interface ProgramOnDatabase {
  readonly url: string;
  run(...args: readonly string[]): Promise<Outcome>;
}

/** Creates an empty database before the tests of the file, and drops it after them. */
export function useAnimalStore(): ProgramOnDatabase {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  return {
    get url() {
      return database.url;
    },
    run: (...args) => runAnimalStore({ DATABASE_URL: database.url }, ...args),
  };
}
