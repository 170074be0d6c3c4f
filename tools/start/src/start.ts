import { start } from '@animal-store/api/start';
import { runUntilStopped } from './run-until-stopped.js';

// `npm start`: the service in this process.
await runUntilStopped(start);
