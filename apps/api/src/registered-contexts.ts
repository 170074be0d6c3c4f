// The contexts that the service serves, one line each.
export { AuthenticationModule } from './authentication/authentication.module.js';
export { EventsModule } from './contexts/events.module.js';
export { JobsModule } from './contexts/jobs.module.js';
export { PetsModule } from '@animal-store/pets-http';
