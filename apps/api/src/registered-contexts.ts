import type { Context } from '@animal-store/http-kit';
import { petsContext } from '@animal-store/pets-http';
import { accessContext } from './authentication/authentication.module.js';
import { eventsContext, jobsContext } from './contexts/contexts.module.js';

export type { Context } from '@animal-store/http-kit';

/** Every app needs these. */
export const platformContexts: readonly Context[] = [accessContext, eventsContext, jobsContext];

export const contexts: readonly Context[] = [...platformContexts, petsContext];
