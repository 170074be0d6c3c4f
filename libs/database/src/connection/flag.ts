const TRUE = ['true', 'on', 'yes', '1'];
const FALSE = ['false', 'off', 'no', '0'];

export const FLAG_RULE = `one of ${[...TRUE, ...FALSE].join(', ')}`;

/** Parses a variable that is on or off, such as CITUS. Returns undefined for any other text. */
export function parseFlag(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}
