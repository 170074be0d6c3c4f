// The contexts that the service serves, one line each.
export { AccessModule } from './authentication/access.module.js';
export { EventsModule } from './jobs/events.module.js';
export { JobsModule } from './jobs/jobs.module.js';
export { PetsModule } from '@animal-store/pets-http';
