import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { StartupError } from '@animal-store/api/start';
import { LocalPostgresError } from '@animal-store/local-postgres';
import { LocalEnvironment } from './local-environment.js';
import { stopSignal } from './stop-signal.js';

const NOTICE_AFTER_MS = 100;

export interface Service {
  /** http://localhost:3000 */
  readonly url: string | Promise<string>;
  /** Resolves when the database is connected. Undefined if it always is. */
  readonly ready?: Promise<unknown>;
  close(): Promise<unknown>;
}

/** Runs the service in the local environment until Ctrl-C, and exits: with code 1 if it could not start. */
export async function runUntilStopped(startService: (env: NodeJS.ProcessEnv) => Service | Promise<Service>): Promise<never> {
  const environment = new LocalEnvironment(process.env);
  const stop = stopSignal(() => environment.kill());
  const aborted = once(stop, 'abort').then(() => undefined);
  let service: Service | undefined;
  let exitCode = 0;
  try {
    const env = await environment.open();
    const stopped = Promise.race([aborted, environment.failed]);
    // Awaited below, once the service has started.
    stopped.catch(() => undefined);
    if (!stop.aborted) service = await startService(env);
    const url = await Promise.race([service?.url, stopped]);
    if (service && url !== undefined) {
      await Promise.race([untilReady(environment, service), stopped]);
      if (!stop.aborted) console.log(await environment.welcome(url));
    }
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

/** Waits until the database is connected, and says so: before, the commands of the welcome text would fail. */
async function untilReady(environment: LocalEnvironment, { ready = Promise.resolve() }: Service): Promise<void> {
  if (await Promise.race([ready.then(() => true), sleep(NOTICE_AFTER_MS, false)])) return;
  console.log(`\n  Waiting for the database at ${environment.databaseServers}.`);
  await ready;
  console.log('\n  The database is connected.');
}
