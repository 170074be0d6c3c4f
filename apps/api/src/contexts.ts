import type { Context } from './contexts/contexts.module.js';
import * as registered from './registered-contexts.js';

export type { Context } from './contexts/contexts.module.js';

export const contexts: readonly Context[] = Object.values(registered);
