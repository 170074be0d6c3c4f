/** Unicode code points. */
export const PET_NAME_MAX_LENGTH = 255;

export const PET_NAME_RULE = `must be a string of 1 to ${String(PET_NAME_MAX_LENGTH)} characters, at least one of them not white space, without U+0000 and unpaired surrogates`;

const NOT_WHITE_SPACE = /\P{White_Space}/u;

export function isPetName(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    hasAtMostCodePoints(value, PET_NAME_MAX_LENGTH) &&
    NOT_WHITE_SPACE.test(value) &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}

function hasAtMostCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return true;
  // A code point takes one or two UTF-16 units.
  return text.length <= 2 * max && Array.from(text).length <= max;
}
