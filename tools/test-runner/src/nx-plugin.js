import { requirePinnedNode } from '../../pinned-node.mjs';

// Before the sources, which older versions of Node.js cannot parse.
requirePinnedNode();
export const { createNodes, preTasksExecution, postTasksExecution } = await import('./task-hooks.ts');
