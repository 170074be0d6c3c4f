/** A link: its target in angle brackets, then its parameters with values that may be quoted strings. */
const LINK = /<([^<>]*)>((?:[^<",]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*))/g;

const WARNED = Symbol.for('@animal-store/client.warned');

/** Returns the target of the first link with this relation type in a `Link` header (RFC 8288). */
export function findLink(header: string, relation: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(LINK)) {
    const types = [...parameters.matchAll(PARAMETER)].find(([, name]) => name?.toLowerCase() === 'rel');
    const relations = (types?.[2] ?? types?.[3] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes(relation)) return target;
  }
  return undefined;
}

/** Logs one warning per process and operation if the response headers mark the operation as deprecated (RFC 9745, RFC 8594). */
export function warnIfDeprecated(operation: string, headers: Headers, warn: (message: string) => void): void {
  const [, seconds] = /^@(\d+)$/.exec(headers.get('Deprecation') ?? '') ?? [];
  const since = formatDate(Number(seconds) * 1000);
  if (since === undefined) return;
  // Shared between the ES module and the CommonJS module, because a process may load both.
  const warned = ((globalThis as unknown as Record<symbol, Set<string> | undefined>)[WARNED] ??= new Set());
  if (warned.has(operation)) return;
  warned.add(operation);
  const sunset = formatDate(Date.parse(headers.get('Sunset') ?? ''));
  const successor = findLink(headers.get('Link') ?? '', 'successor-version');
  const sentences = [
    `Animal Store: ${operation} has been deprecated since ${since}.`,
    sunset && `It will be removed on ${sunset}.`,
    successor && `Use ${successor} instead.`,
  ];
  warn(sentences.filter(Boolean).join(' '));
}

/** Returns undefined if the time is not a date. */
function formatDate(time: number): string | undefined {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10);
}

/** Returns undefined for text that is not a URL. `URL.canParse` is missing in browsers of 2023. */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
