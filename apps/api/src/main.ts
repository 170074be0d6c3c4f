import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { FAILED_START, type RunningService, serve, StartupError } from './serve.js';

let service: RunningService | undefined;

/** Returns a handler that stops the service, if it listens, and exits. A worker may get the same signal twice: from the terminal and its supervisor. */
function stopHandler(how: 'close' | 'drain'): () => void {
  return () => void Promise.resolve(service?.[how]()).then(() => process.exit(0));
}

// Orchestrators send SIGTERM, which drains. Ctrl-C closes immediately.
process.on('SIGTERM', stopHandler('drain'));
process.on('SIGINT', stopHandler('close'));

try {
  await serve(process.env, (listening) => {
    service = listening;
  });
} catch (error) {
  console.error(sanitiseForTerminal(error instanceof StartupError ? error.message : inspect(error)));
  // Otherwise, a worker's IPC channel keeps it alive.
  process.exit(FAILED_START);
}
