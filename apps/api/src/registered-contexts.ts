// The contexts that the service serves, one line each.
export { AccessModule } from './authentication/access.module.js';
export { EventsModule } from './contexts/events.module.js';
export { JobsModule } from './contexts/jobs.module.js';
export { PetsModule } from '@animal-store/pets-http';
