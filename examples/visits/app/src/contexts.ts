import { type Context, platformContexts } from '@animal-store/api/contexts';
import { petsContext } from '@animal-store/pets-http';
import { visitsContext } from '@animal-store/visits-http';

export const contexts: readonly Context[] = [...platformContexts, petsContext, visitsContext];
