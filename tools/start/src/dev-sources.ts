// What `dev-service.ts` loads when the sources have changed.
export { serve } from '@animal-store/api/serve';
export { reportFailure } from './failure.js';
