import { writeSync } from 'node:fs';
import { Database } from '../database.js';
import { eventsPersistence } from '../events/events.js';
import { EventRunner } from '../events/event-runner.js';
import { PATIENCE_MS, recorder, shopPersistence, SILENT_OBSERVER } from './shop.js';

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
const dataSource = await new Database({
  url,
  applicationName: 'spec',
  poolSize: 2,
  connectTimeoutMs: PATIENCE_MS,
  persistence: [shopPersistence, eventsPersistence],
  subscriptions: [recorder('one', hook)],
}).initialize();
dataSource.hasOpened = true;

new EventRunner(
  dataSource,
  { ...SILENT_OBSERVER, interrupted: (error) => console.error(error) },
  { handlerOf: (handler) => new handler(dataSource as never), pollMs: 20, retryMs: 50, maxAttempts: 3 },
).start();
setInterval(() => undefined, 60_000);
