import { inspect } from 'node:util';
import { forTerminal } from '@animal-store/access-domain';
import { type RunningService, serve, StartupError } from '@animal-store/api/serve';

// The process that `npm run dev` restarts after each change. It sends its URL to `dev.ts`.
let service: RunningService | undefined;
const stop = () => void Promise.resolve(service?.close()).finally(() => process.exit(0));
process.on('SIGINT', stop).on('SIGTERM', stop).on('disconnect', stop);
try {
  service = await serve(process.env);
  process.send?.({ url: service.url });
} catch (error) {
  console.error(forTerminal(error instanceof StartupError ? error.message : inspect(error)));
  process.exit(1);
}
