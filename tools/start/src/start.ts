import { serve } from '@animal-store/api/serve';
import { runUntilStopped } from './run-until-stopped.js';

// `npm start`: the service in this process.
await runUntilStopped(serve);
