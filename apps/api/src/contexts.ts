import type { Context } from './contexts/context.js';
import * as registered from './registered-contexts.js';

export type { Context } from './contexts/context.js';

export const contexts: readonly Context[] = Object.values(registered);
