import { escapeControlCharacters } from '@animal-store/access-domain';
import { isDatabaseUnavailable } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';

export const EXIT_OK = 0;
export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;

/** An error that the user can fix. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: typeof EXIT_FAILURE | typeof EXIT_USAGE = EXIT_FAILURE,
  ) {
    super(message);
  }
}

/** SQLSTATE codes undefined_table and invalid_schema_name. */
const NOT_MIGRATED = ['42P01', '3F000'];

export function describeFailure(error: unknown): { readonly line: string; readonly exitCode: number } {
  const line = reasonOf(error);
  if (error instanceof CliError) return { line, exitCode: error.exitCode };
  if (error instanceof DomainError) return { line, exitCode: error.kind === 'invalid' ? EXIT_USAGE : EXIT_FAILURE };
  if (NOT_MIGRATED.includes(String((error as { code?: unknown }).code)))
    return { line: 'the tables are missing: run "migrate up" first', exitCode: EXIT_FAILURE };
  return { line: isDatabaseUnavailable(error) ? `the database cannot be used: ${line}` : line, exitCode: EXIT_FAILURE };
}

/** Returns the message in one line. The error of a connection that failed at several addresses has a code but no message. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return escapeControlCharacters(
    String(message || code || error)
      .replace(/\s*\n\s*/g, ' ')
      .trim(),
  );
}
