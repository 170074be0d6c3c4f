import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { FAILED_START, type RunningService, serve, type ServedApp, StartupError } from './serve.js';

/** Serves an app as the program of this process: stops it on signals, and exits if it cannot start. */
export async function run(app?: ServedApp): Promise<void> {
  let service: RunningService | undefined;
  /** Stops the service, if it listens, and exits. A worker may get the same signal twice: from the terminal and its supervisor. */
  const stop = (how: 'close' | 'drain') => void Promise.resolve(service?.[how]()).then(() => process.exit(0));

  // Orchestrators send SIGTERM, which drains. Ctrl-C closes immediately.
  process.on('SIGTERM', () => stop('drain'));
  process.on('SIGINT', () => stop('close'));

  try {
    await serve(process.env, (listening) => (service = listening), app);
  } catch (error) {
    console.error(sanitiseForTerminal(error instanceof StartupError ? error.message : inspect(error)));
    // Otherwise, a worker's IPC channel keeps it alive.
    process.exit(FAILED_START);
  }
}
