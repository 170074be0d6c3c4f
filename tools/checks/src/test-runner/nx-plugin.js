import { createRequire } from 'node:module';
import { requirePinnedNode } from '../../../pinned-node.mjs';

const require = createRequire(import.meta.url);

// Before the sources, which older versions of Node.js cannot parse. Nx cannot import a plugin that awaits if its path has a `#`.
requirePinnedNode();
export const { createNodes, preTasksExecution, postTasksExecution } = require('./task-hooks.ts');
