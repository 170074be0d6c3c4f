import { type RunningService, serve } from '@animal-store/api/serve';
import { contexts } from './contexts.js';

let service: RunningService | undefined;
const stop = (how: 'close' | 'drain') => () => void Promise.resolve(service?.[how]()).then(() => process.exit(0));

// Orchestrators send SIGTERM, which drains. Ctrl-C closes immediately.
process.on('SIGTERM', stop('drain'));
process.on('SIGINT', stop('close'));

await serve(process.env, (listening) => (service = listening), { contexts, main: import.meta.filename });
