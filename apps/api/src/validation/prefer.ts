// RFC 7240, section 2: token [ BWS "=" BWS word ] *( OWS ";" … ); the first of two equal names counts.
const PREFERENCE = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:=\s*(?:"([^"]*)"|([^;\s]*)))?\s*(?:;.*)?$/;

/** Whether a Prefer field asks for `handling=strict`. */
export function prefersStrictHandling(field: string): boolean {
  for (const preference of field.split(',')) {
    const [, name, quoted, token] = PREFERENCE.exec(preference) ?? [];
    if (name?.toLowerCase() === 'handling') return (quoted ?? token)?.toLowerCase() === 'strict';
  }
  return false;
}
