import { StartupError } from '@animal-store/api/serve';
import { LocalPostgresError } from '@animal-store/local-postgres';

/** What a person can mend is said in one line per problem; anything else is a bug and shows its stack. */
export function reportFailure(error: unknown): void {
  console.error(error instanceof StartupError || error instanceof LocalPostgresError ? error.message : error);
}
