import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { StartupError } from '@animal-store/api/start';
import { LocalPostgresError } from '@animal-store/local-postgres';
import { LocalEnvironment } from './local-environment.js';

const NOTICE_AFTER_MS = 1_000;
/** On Ctrl-C the terminal and npm both send SIGINT: a second signal within this time is the same Ctrl-C. */
const SAME_CTRL_C_MS = 1_000;
const EXIT_FORCED = 130;

export interface Service {
  /** http://127.0.0.1:3000 */
  readonly url: string | Promise<string>;
  /** Resolves when the database is connected. Undefined if it always is. */
  readonly ready?: Promise<unknown>;
  close(): Promise<unknown>;
}

/** Runs the service in the local environment until Ctrl-C, and exits: with code 1 if it could not start. */
export async function runUntilStopped(startService: (env: NodeJS.ProcessEnv) => Service | Promise<Service>): Promise<never> {
  const environment = new LocalEnvironment({ NODE_ENV: 'development', ...process.env });
  const stopped = untilSignal(() => void environment.close().finally(() => process.exit(EXIT_FORCED)));
  let service: Service | undefined;
  let exitCode = 0;
  try {
    const env = await Promise.race([environment.open(), stopped]);
    if (env) service = await startService(env);
    const url = await Promise.race([service?.url, stopped]);
    if (service && url !== undefined && (await Promise.race([untilReady(environment, service), stopped])))
      console.log(await environment.welcome(url));
    await stopped;
  } catch (error) {
    // Errors that the user can fix have a one-line message. Any other error is a bug and is printed with its stack.
    const isExplained = error instanceof StartupError || error instanceof LocalPostgresError;
    console.error(sanitiseForTerminal(isExplained ? error.message : inspect(error)));
    exitCode = 1;
  }
  try {
    // Requests in progress still need PostgreSQL.
    await service?.close();
  } finally {
    await environment.close();
  }
  process.exit(exitCode);
}

/** Resolves on SIGINT, SIGTERM or SIGHUP. Calls `force` on a second Ctrl-C. */
function untilSignal(force: () => void): Promise<undefined> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = () => {
      if (firstAt !== undefined && performance.now() - firstAt > SAME_CTRL_C_MS) force();
      firstAt ??= performance.now();
      resolve(undefined);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  });
}

/** Resolves to true when the database is connected, and says if it waits: before, the commands of the welcome text would fail. */
async function untilReady(environment: LocalEnvironment, { ready = Promise.resolve() }: Service): Promise<true> {
  const connected = ready.then(() => true as const);
  if (await Promise.race([connected, sleep(NOTICE_AFTER_MS, false)])) return true;
  console.log(`\n  Waiting for the database at ${environment.databaseServers}.`);
  return connected;
}
