import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

// Nx cannot import a plugin that awaits if its path has a `#`.
export const { createNodes, preTasksExecution, postTasksExecution } = require('./task-hooks.ts');
