// The contexts that the service serves.
export { AuthenticationModule } from './authentication/authentication.module.js';
export { EventsModule, JobsModule } from './contexts/contexts.module.js';
export { PetsModule } from '@animal-store/pets-http';
