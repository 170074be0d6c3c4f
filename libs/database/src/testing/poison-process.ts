import { writeSync } from 'node:fs';
import { recorder, startEventRunner } from './shop.js';

/** The step whose handler ends the process. */
const POISON = 13;

const WAYS: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(1),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  reject: () => void Promise.reject(new Error('no stock')),
  block: () => {
    for (;;);
  },
};

/** A process that handles events until a handler ends it. The arguments are the database URL and the way. */
const [, , url = '', way = ''] = process.argv;
const hook = (event: object) => {
  if (!('step' in event) || event.step !== POISON) return;
  writeSync(1, 'poison\n');
  WAYS[way]?.();
  return new Promise<void>(() => undefined);
};
await startEventRunner(url, [recorder('one', hook)], { retryMs: 50, maxAttempts: 3 });
setInterval(() => undefined, 60_000);
