/** Returns whether the first `handling` of a Prefer field (RFC 7240, section 2) is `strict`. Takes linear time. */
export function prefersStrictHandling(field: string): boolean {
  for (const preference of field.split(',')) {
    const [setting = ''] = preference.split(';', 1);
    const equals = setting.indexOf('=');
    const name = (equals < 0 ? setting : setting.slice(0, equals)).trim();
    if (name.toLowerCase() !== 'handling') continue;
    return equals >= 0 && /^(?:strict|"strict")$/i.test(setting.slice(equals + 1).trim());
  }
  return false;
}
