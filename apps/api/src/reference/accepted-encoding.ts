/** Content codings of the files that are compressed at build time, the smallest result first, with the suffixes of their files. */
export const ENCODINGS = { br: '.br', gzip: '.gz' } as const;
export type Encoding = keyof typeof ENCODINGS;

/** Returns the coding that an Accept-Encoding field prefers (RFC 9110, section 12.5.3), or undefined to send the text unchanged. */
export function acceptedEncoding(field = ''): Encoding | undefined {
  const weights = new Map(field.toLowerCase().split(',').map(parseElement));
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const { br, gzip } = { br: weightOf('br'), gzip: weightOf('gzip') };
  const best = Math.max(br, gzip);
  // An unchanged text is only preferred if the field says so.
  if (best === 0 || (weights.get('identity') ?? 0) > best) return undefined;
  return br === best ? 'br' : 'gzip';
}

/** Parses an element such as `gzip;q=0.5`. An invalid weight rejects the coding. */
function parseElement(element: string): [coding: string, weight: number] {
  const [, coding = '', weight = ''] = /^\s*([^\s;]+)\s*(?:;\s*q=(\S*)\s*)?$/.exec(element) ?? [];
  if (!element.includes(';')) return [coding, 1];
  return [coding, /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0];
}
