/** The local server cannot be used. The message is one line and needs no stack trace. */
export class LocalPostgresError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message.replace(/\s*\n\s*/g, ' ').trim(), { cause });
    this.name = 'LocalPostgresError';
  }
}

/** Returns the last error in the output of a PostgreSQL program, with its detail and hint, otherwise the last line. Ends with a full stop. */
export function findErrorMessage(output: string): string {
  const lines = output.trim().split('\n');
  const first = lines.findLastIndex((line) => /\b(?:FATAL|PANIC|error):/.test(line));
  const text = lines.slice(first).join(' ');
  return `${text.replace(/^.*?\b(?:FATAL|PANIC|error): +|\.$/g, '') || 'there is no error message'}.`;
}
