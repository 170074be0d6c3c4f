import type { Context } from './contexts/contexts.module.js';
import * as registered from './registered-contexts.js';

export type { Context } from './contexts/contexts.module.js';
/** What another app composes with its own contexts. */
export { AuthenticationModule } from './authentication/authentication.module.js';
export { EventsModule, JobsModule } from './contexts/contexts.module.js';

export const contexts: readonly Context[] = Object.values(registered);
