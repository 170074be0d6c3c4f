const PARTS = {
  ',': /(?:[^",]|"(?:[^"\\]|\\.)*"?)*/g,
  ';': /(?:[^";]|"(?:[^"\\]|\\.)*"?)*/g,
};

/** Splits a field at a separator outside of quoted strings (RFC 9110, section 5.6.4) into trimmed parts. Empty parts may be added after others. Takes linear time. */
export function splitUnquoted(field: string, separator: keyof typeof PARTS): string[] {
  return (field.match(PARTS[separator]) ?? []).map((part) => part.trim());
}
