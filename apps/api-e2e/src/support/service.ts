import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestDatabase } from '@animal-store/local-postgres/testing';
import { ALL_PETS, type CreatedKey } from './keys.js';
import { createMigratedDatabase, serviceRoleUrl } from './service-role.js';

/** Folder of the program: by default the deployed bundle, for coverage the compiled files. */
const FOLDER = process.env['PROGRAM_FOLDER'] ?? 'bundle';
const API_MAIN = `../../../api/${FOLDER}/main.js`;
const CLI_MAIN = `../../../cli/${FOLDER}/main.js`;
const LISTENING = /"url":"(http:\/\/[^"]+)"|(http:\/\/(?:localhost|127\.0\.0\.1|\[::1?\]|0\.0\.0\.0):[0-9]+)/;
const START_TIMEOUT_MS = 60_000;
/** Prevents a busy machine from counting as an overload of the service. */
const PATIENT = { MAX_EVENT_LOOP_LAG_MS: '60000' };

export type Environment = Readonly<Record<string, string>>;

/** A running process of the built service. */
export class Service {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
    private readonly readOutput: () => string,
  ) {}

  /**
   * Starts the service on a free port and waits until it listens. Unless MIGRATION_DATABASE_URL is set, migrates the database first and
   * gives the service a role with only the privileges of docs/deployment.md.
   * @param main program of the service, by default the bundle of this workspace
   */
  static async start(databaseUrl: string, environment: Environment = {}, main?: string): Promise<Service> {
    const url = environment['MIGRATION_DATABASE_URL'] === undefined ? await serviceRoleUrl(databaseUrl, runAnimalStore) : databaseUrl;
    const { process: service, output } = spawnService(
      { DATABASE_URL: url, PORT: '0', DRAIN_SECONDS: '0', ...PATIENT, ...environment },
      main,
    );
    let timer: NodeJS.Timeout | undefined;
    try {
      const listening = await new Promise<string>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error(`the service does not listen:\n${output()}`)), START_TIMEOUT_MS);
        service.on('exit', (code) => reject(new Error(`the service ended with ${code}:\n${output()}`)));
        service.stdout?.on('data', () => {
          const [, logged, printed] = LISTENING.exec(output()) ?? [];
          const found = logged ?? printed;
          if (found !== undefined) resolve(found.replace(/\/\/(?:0\.0\.0\.0|\[::\])/, '//127.0.0.1'));
        });
      });
      return new Service(listening, service, output);
    } catch (error) {
      service.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts the service on a port without waiting. */
  static startOn(port: number, environment: Environment): Service {
    const { process: service, output } = spawnService({ PORT: String(port), ...PATIENT, ...environment });
    return new Service(`http://127.0.0.1:${port}`, service, output);
  }

  /** Everything the process has written to stdout and stderr. */
  get output(): string {
    return this.readOutput();
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Sends a signal. Resolves to the exit code after the process has exited, or null if the signal ended it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const exit = this.exit();
    this.process.kill(signal);
    return exit;
  }

  async exit(): Promise<number | null> {
    const { exitCode, signalCode } = this.process;
    if (exitCode === null && signalCode === null) await once(this.process, 'exit');
    return this.process.exitCode;
  }
}

/** Runs the service with a configuration that it must reject. Returns its exit code and output. */
export async function runUntilExit(environment: Environment): Promise<{ exitCode: number | null; output: string }> {
  const { process: service, output } = spawnService(environment);
  const timer = setTimeout(() => service.kill('SIGKILL'), START_TIMEOUT_MS);
  const [exitCode] = (await once(service, 'close')) as [number | null];
  clearTimeout(timer);
  return { exitCode, output: output() };
}

/** Runs the command-line tool on a database and returns its standard output. */
export async function runAnimalStore(databaseUrl: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [built(CLI_MAIN), ...args], {
    env: processEnvironment({ DATABASE_URL: databaseUrl }),
  });
  return stdout;
}

/** Creates a database with all migrations on the server in TEST_POSTGRES_URL. */
export function createStoreDatabase(): Promise<TestDatabase> {
  return createMigratedDatabase(runAnimalStore, dirname(built(CLI_MAIN)));
}

/** Creates a key for a client with the command line. `options` are added to `keys create`. */
export async function createKey(
  databaseUrl: string,
  client: string,
  scopes: readonly string[] = ALL_PETS,
  ...options: readonly string[]
): Promise<CreatedKey> {
  const printed = await runAnimalStore(databaseUrl, 'keys', 'create', '--client', client, '--scope', scopes.join(), ...options, '--json');
  return JSON.parse(printed) as CreatedKey;
}

function spawnService(environment: Environment, main = built(API_MAIN)): { process: ChildProcess; output: () => string } {
  const service = spawn(process.execPath, [main], {
    env: processEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: string): void => void (output += chunk);
  service.stdout.setEncoding('utf8').on('data', collect);
  service.stderr.setEncoding('utf8').on('data', collect);
  return { process: service, output: () => output };
}

/**
 * Returns only the variables that a process needs, so that a developer's settings do not reach the service under test. A run of Nx sets
 * NODE_COMPILE_CACHE, which saves a quarter of the CPU time of a start.
 */
function processEnvironment(environment: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, SystemRoot, TEMP, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, SystemRoot, TEMP, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...environment };
}

function built(path: string): string {
  const file = fileURLToPath(new URL(path, import.meta.url));
  if (!existsSync(file)) throw new Error(`${file} is missing: run \`npx nx run-many -t bundle\` first`);
  return file;
}
