import { once } from 'node:events';
import { type RunningService, serve } from '@animal-store/api/serve';
import { reportFailure } from './failure.js';
import { LocalEnvironment } from './local-environment.js';
import { stopSignal } from './stop-signal.js';

// `npm start`: the service on this machine, with a PostgreSQL of its own unless DATABASE_URL names one.
const environment = new LocalEnvironment(process.env);
const stop = stopSignal(() => environment.kill());
let service: RunningService | undefined;
let exitCode = 0;
try {
  const env = await environment.open(stop);
  if (!stop.aborted) service = await serve(env);
  if (service && !stop.aborted) console.log(await environment.welcome(service.url, env));
  if (!stop.aborted) await once(stop, 'abort');
} catch (error) {
  reportFailure(error);
  exitCode = 1;
}
await service?.close();
await environment.close();
process.exit(exitCode);
