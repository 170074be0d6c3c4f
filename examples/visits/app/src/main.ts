import { run } from '@animal-store/api/start';
import { contexts } from './contexts.js';

await run(contexts);
