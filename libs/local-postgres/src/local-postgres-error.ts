/** The local server cannot be used. The message is one line and needs no stack trace. */
export class LocalPostgresError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message.replace(/\s*\n\s*/g, ' ').trim(), { cause });
    this.name = 'LocalPostgresError';
  }
}

/** Returns the last error message in the output of a PostgreSQL program, with its detail and hint. Ends with a full stop. */
export function findErrorMessage(output: string): string {
  const lines = output.trim().split('\n');
  const first = lines.findLastIndex((line) => /\b(?:FATAL|PANIC|error):/.test(line));
  const message = /\b(?:FATAL|PANIC|error|DETAIL|detail|HINT|hint): +(\S.*)$/;
  const texts = lines.slice(Math.max(first, 0)).flatMap((line) => message.exec(line)?.[1]?.replace(/\.$/, '') ?? []);
  return `${texts.join('. ') || lines.at(-1) || 'there is no error message'}.`;
}
