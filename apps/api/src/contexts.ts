import type { Context } from './contexts/contexts.module.js';
import * as registered from './registered-contexts.js';

export type { Context } from './contexts/contexts.module.js';
// For the contexts of another app.
export { AuthenticationModule, EventsModule, JobsModule } from './registered-contexts.js';

export const contexts: readonly Context[] = Object.values(registered);
