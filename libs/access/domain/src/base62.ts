const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** Returns the number as `length` Base62 digits, padded with zeros. */
export function toBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits;
}

/** Parses the Base62 digits from `start` on. Does not detect invalid digits. Exact up to eight digits. */
export function fromBase62(text: string, start: number): number {
  let value = 0;
  for (let i = start; i < text.length; i++) value = value * 62 + (VALUES[text.charCodeAt(i)] as number);
  return value;
}
