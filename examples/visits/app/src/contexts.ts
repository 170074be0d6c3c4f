import { AuthenticationModule, type Context, EventsModule, JobsModule } from '@animal-store/api/contexts';
import { PetsModule } from '@animal-store/pets-http';
import { VisitsModule } from '@animal-store/visits-http';

export const contexts: readonly Context[] = [AuthenticationModule, EventsModule, JobsModule, PetsModule, VisitsModule];
