/** A link: its target in angle brackets, then its parameters with values that may be quoted strings. */
const LINK = /<([^<>]*)>((?:[^<",]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*))/g;

/** Returns the target of the first link with this relation type in a `Link` header (RFC 8288). */
export function findLink(header: string, relation: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(LINK)) {
    const types = [...parameters.matchAll(PARAMETER)].find(([, name]) => name?.toLowerCase() === 'rel');
    const relations = (types?.[2] ?? types?.[3] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes(relation)) return target;
  }
  return undefined;
}

/** Returns undefined for text that is not a URL. `URL.canParse` is missing in browsers of 2023. */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
