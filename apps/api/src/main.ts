import { run } from './start.js';

await run();
