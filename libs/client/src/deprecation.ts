const WARNED = Symbol.for('@animal-store/client.warned');

/** Logs one warning per process and operation if the response headers mark the operation as deprecated (RFC 9745, RFC 8594). */
export function warnIfDeprecated(operation: string, headers: Headers, warn: (message: string) => void): void {
  const [, seconds] = /^@(\d+)$/.exec(headers.get('Deprecation') ?? '') ?? [];
  if (seconds === undefined) return;
  // Shared between the ES module and the CommonJS module, because a process may load both.
  const warned = ((globalThis as unknown as Record<symbol, Set<string> | undefined>)[WARNED] ??= new Set());
  if (warned.has(operation)) return;
  warned.add(operation);
  const sunset = headers.get('Sunset');
  const [, successor] = /<([^>]*)>[^<]*;\s*rel="?successor-version\b/.exec(headers.get('Link') ?? '') ?? [];
  const sentences = [
    `Animal Store: ${operation} has been deprecated since ${formatDate(Number(seconds) * 1000)}.`,
    sunset && `It will be removed on ${formatDate(Date.parse(sunset))}.`,
    successor && `Use ${successor} instead.`,
  ];
  warn(sentences.filter(Boolean).join(' '));
}

function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
