import { run } from '@animal-store/api/run';
import { contexts } from './contexts.js';

await run({ contexts, main: import.meta.filename });
