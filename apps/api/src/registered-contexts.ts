// The contexts that the service serves, one line each.
export { AccessModule } from './authentication/access.module.js';
export { EventsModule } from './process/events.module.js';
export { JobsModule } from './process/jobs.module.js';
export { PetsModule } from '@animal-store/pets-http';
