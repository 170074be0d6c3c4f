import { once } from 'node:events';
import type { RunningService } from '@animal-store/api/serve';
import { packageImports } from './dev-hooks.js';

// A child of `dev.ts`. It gets ready while its predecessor serves: npm packages at once, the sources on the first message,
// and it serves on the second.
let service: RunningService | undefined;
const end = () => void (service?.close() ?? Promise.resolve()).finally(() => process.exit(0));
process.once('SIGTERM', end).once('disconnect', end);
process.on('SIGINT', () => undefined); // Ctrl-C is for the parent

const load = once(process, 'message');
for (const url of process.argv.slice(2)) await import(url).catch(() => undefined);
await load;
const { reportFailure, serve } = await import('./dev-sources.js');
const start = once(process, 'message');
process.send?.({ packages: [...packageImports] });
await start;
try {
  service = await serve(process.env);
  process.send?.({ url: service.url });
} catch (error) {
  reportFailure(error);
  process.exit(1);
}
