import { isIP } from 'node:net';
import { isKeyEnvironment, KEY_ENVIRONMENT_RULE } from '@animal-store/access-domain';
import { parseDatabaseUrl, splitUrls } from '@animal-store/database';
import { type ExactValidator, makeExactValidator } from 'envalid';
import ipaddr from 'ipaddr.js';

/** Declares a variable. The rule is shown in error messages and in docs/variables.md. */
function validator<T>(rule: string, parse: (text: string) => T | undefined): ExactValidator<T> {
  const declare = makeExactValidator<T>((text) => {
    const value = parse(text);
    if (value === undefined) throw new Error(`must be ${rule}`);
    return value;
  });
  return ((...spec: Parameters<typeof declare>) => ({ ...declare(...spec), rule })) as ExactValidator<T>;
}

export const file = validator('a path', (value) => value);

/** Labels of letters, digits, hyphens and underscores. The last one is not a number: names such as `0` and `127.1` mean IPv4 addresses. */
const HOST_NAME = /^(?:[\w-]{1,63}\.)*(?!(?:\d+|0x[\da-f]*)\.?$)[\w-]{1,63}\.?$/i;

export const address = validator('an IP address or host name', (value) => (isIP(value) !== 0 || HOST_NAME.test(value) ? value : undefined));

const integerFrom = (minimum: number, maximum: number) =>
  validator(`an integer from ${String(minimum)} to ${String(maximum)}`, (value) => {
    const number = Number(value);
    return /^[0-9]{1,10}$/.test(value) && number >= minimum && number <= maximum ? number : undefined;
  });

export const port = integerFrom(0, 65_535);

export const integer = (minimum: number, maximum: number, spec: { readonly default: number; readonly desc: string }) =>
  integerFrom(minimum, maximum)(spec);

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

export const postgresUrl = validator('a postgres:// URL', (value) => {
  parseDatabaseUrl(value);
  return value;
});

export const postgresUrls = validator<readonly string[]>('postgres:// URLs, separated by commas', (value) => {
  const urls = splitUrls(value);
  for (const url of urls) parseDatabaseUrl(url);
  return urls;
});

/** Host, port, and the number of the database. The client would ignore parameters, and throw for invalid percent-encoding. */
const REDIS_URL = /^rediss?:\/\/(?:[^\s\p{Cc}/?#%]|%[\da-f]{2})+(?:\/\d{0,9})?$/iu;

export const redisUrl = validator('a redis:// or rediss:// URL without parameters', (value) =>
  REDIS_URL.test(value) && URL.canParse(value) ? value : undefined,
);

/** Scheme, authority without user name or wildcard, and path (RFC 3986). */
const HTTP_URL = /^https?:\/\/[^\s\p{Cc}/\\?#@*]+(?:\/(?:[\w!$&'()*+,./:;=@~-]|%[\da-f]{2})*)?$/iu;

export const httpUrl = validator('an http(s) URL without user name, query or fragment', (value) => {
  if (!HTTP_URL.test(value) || !URL.canParse(value)) return undefined;
  const { origin, pathname } = new URL(value);
  return origin + pathname.replace(/\/+$/, '');
});

const listOf = (rule: string, parse: (item: string) => string | undefined) =>
  validator<readonly string[]>(`${rule}, separated by commas`, (value) => {
    const items = value.split(',').map((item) => parse(item.trim()));
    return items.every((item) => item !== undefined) ? items : undefined;
  });

/** Returns the origin as browsers send it: in lower case, with Punycode, without a default port. */
export const origins = listOf('origins such as https://app.example.com', (item) => {
  const url = HTTP_URL.test(item) && URL.canParse(item) ? new URL(item) : undefined;
  return url?.pathname === '/' ? url.origin : undefined;
});

export const addresses = listOf('IP addresses or CIDR ranges such as 10.0.0.0/8', (item) => {
  // No zone, and a prefix length from 1 without leading zeros.
  if (/%|\/0/.test(item)) return undefined;
  if (isIP(item) !== 0 || ipaddr.IPv4.isValidCIDRFourPartDecimal(item)) return item;
  // An IPv4-mapped range would match no IPv4 address, or more than it says.
  return ipaddr.IPv6.isValidCIDR(item) && !ipaddr.IPv6.parseCIDR(item)[0].isIPv4MappedAddress() ? item : undefined;
});

export const environmentName = validator<string>(KEY_ENVIRONMENT_RULE.replace('must be ', ''), (value) =>
  isKeyEnvironment(value) ? value : undefined,
);
