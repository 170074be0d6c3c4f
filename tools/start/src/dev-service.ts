import { inspect } from 'node:util';
import { sanitiseForTerminal } from '@animal-store/access-domain';
import { type RunningService, start, StartupError } from '@animal-store/api/start';
import { prepareDatabase } from './local-environment.js';

// The process that `npm run dev` restarts after each change. It sends its URL to `dev.ts`.
let service: RunningService | undefined;
const stop = () => void Promise.resolve(service?.close()).finally(() => process.exit(0));
process.on('SIGINT', stop).on('SIGTERM', stop).on('disconnect', stop);
const { LOCAL_OWNER_URL, LOCAL_SERVICE_ROLE } = process.env;
try {
  if (LOCAL_OWNER_URL && LOCAL_SERVICE_ROLE) await prepareDatabase(LOCAL_OWNER_URL, LOCAL_SERVICE_ROLE);
  service = await start(process.env);
  process.send?.({ url: service.url });
  await service.ready;
  process.send?.({ isReady: true });
} catch (error) {
  console.error(sanitiseForTerminal(error instanceof StartupError ? error.message : inspect(error)));
  process.exit(1);
}
