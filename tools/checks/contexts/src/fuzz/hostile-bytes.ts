import fc, { type Arbitrary } from 'fast-check';

/** Bytes as text, one character each, or a filler that would be too long to print. */
export type Bytes = string | { readonly filler: string; readonly times: number };

/** Placeholders for two valid keys: one with all scopes, one read-only. Printed inputs contain them instead of the keys. */
export const KEY = '<KEY>';
export const READ_ONLY_KEY = '<READ_ONLY_KEY>';

export const MAX_LENGTH = 40;

const latin1 = (minimum: number, maximum: number) => fc.integer({ min: minimum, max: maximum }).map((code) => String.fromCharCode(code));
export const anyByte = latin1(0, 0xff);
export const visibleByte = latin1(0x21, 0xff);
export const visible = latin1(0x21, 0x7e);
export const bytes = fc.string({ unit: anyByte, maxLength: MAX_LENGTH });

/** Returns the words of a text, which are separated by white space. A backslash is one character. */
export const words = (text: TemplateStringsArray): string[] => String.raw(text).trim().split(/\s+/);

export const filler = (text: string, ...times: number[]): Arbitrary<Bytes> =>
  fc.constantFrom(...times).map((count) => ({ filler: text, times: count }));

/** Returns mostly usual values: a server stops at the first wrong part, so most parts must be valid. */
export const mostly = <T>(usual: Arbitrary<T>, ...unusual: Arbitrary<T>[]): Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: fc.oneof(...unusual) });
