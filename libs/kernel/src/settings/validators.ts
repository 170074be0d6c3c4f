import { type ExactValidator, makeExactValidator } from 'envalid';

/** Declares a variable. The rule is shown in error messages and in docs/variables.md. */
export function validator<T>(rule: string, parse: (text: string) => T | undefined): ExactValidator<T> {
  const declare = makeExactValidator<T>((text) => {
    const value = parse(text);
    if (value === undefined) throw new Error(`must be ${rule}`);
    return value;
  });
  return ((...spec: Parameters<typeof declare>) => ({ ...declare(...spec), rule })) as ExactValidator<T>;
}

export const text = validator('a text', (value) => value);

export const path = validator('a path', (value) => value);

export const integer = (minimum: number, maximum: number) =>
  validator(`an integer from ${String(minimum)} to ${String(maximum)}`, (value) => {
    const number = Number(value);
    return /^[0-9]{1,10}$/.test(value) && number >= minimum && number <= maximum ? number : undefined;
  });

export const share = validator('a number from 0 to 1', (value) =>
  /^(?:0(?:\.[0-9]{1,9})?|1(?:\.0+)?)$/.test(value) ? Number(value) : undefined,
);

export const oneOf = <T extends string>(choices: readonly T[]) =>
  validator(`one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'on', 'yes', '1'].map((text) => [text, true] as const),
  ...['false', 'off', 'no', '0'].map((text) => [text, false] as const),
]);

export const flag = validator(`one of ${[...FLAGS.keys()].join(', ')}`, (value) => FLAGS.get(value));

/** Scheme, authority without user name or wildcard, and path (RFC 3986). */
const HTTP_URL = /^https?:\/\/[^\s\p{Cc}/\\?#@*]+(?:\/(?:[\w!$&'()*+,./:;=@~-]|%[\da-f]{2})*)?$/iu;

/** Returns the URL if it has neither a user name nor a query nor a fragment. */
export const parseHttpUrl = (value: string): URL | undefined => (HTTP_URL.test(value) && URL.canParse(value) ? new URL(value) : undefined);

export const httpUrl = validator('an http(s) URL without user name, query or fragment', (value) => {
  const url = parseHttpUrl(value);
  return url && url.origin + url.pathname.replace(/\/+$/, '');
});
