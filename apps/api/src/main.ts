import { inspect } from 'node:util';
import { forTerminal } from '@animal-store/access-domain';
import { FAILED_START, type RunningService, serve, StartupError } from './serve.js';

let service: RunningService | undefined;

/** Before the service listens there is nothing to wait for. Signals may come again: a supervisor passes on what its group got already. */
function stopBy(how: 'close' | 'drain'): () => void {
  return () => void Promise.resolve(service?.[how]()).then(() => process.exit(0));
}

// An orchestrator's stop is gentle, Ctrl-C is quick.
process.on('SIGTERM', stopBy('drain'));
process.on('SIGINT', stopBy('close'));

try {
  await serve(process.env, (listening) => {
    service = listening;
  });
} catch (error) {
  console.error(forTerminal(error instanceof StartupError ? error.message : inspect(error)));
  // A worker's channel to its supervisor would keep it alive.
  process.exit(FAILED_START);
}
