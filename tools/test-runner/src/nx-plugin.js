import { createRequire } from 'node:module';
import { requirePinnedNode } from '../../pinned-node.mjs';

// Before the sources, which older versions of Node.js cannot parse.
requirePinnedNode();
export const { createNodes, preTasksExecution, postTasksExecution } = createRequire(import.meta.url)('./task-hooks.ts');
