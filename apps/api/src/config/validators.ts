import { isIP } from 'node:net';
import { isKeyEnvironment, KEY_ENVIRONMENT_RULE } from '@animal-store/access-domain';
import { parseDatabaseUrl, splitUrls } from '@animal-store/database';
import { integer, parseHttpUrl, validator } from '@animal-store/kernel/settings';
import ipaddr from 'ipaddr.js';

export * from '@animal-store/kernel/settings';

/** Labels of letters, digits, hyphens and underscores. The last one is not a number: names such as `0` and `127.1` mean IPv4 addresses. */
const HOST_NAME = /^(?:[\w-]{1,63}\.)*(?!(?:\d+|0x[\da-f]*)\.?$)[\w-]{1,63}\.?$/i;

export const address = validator('an IP address or host name', (value) => (isIP(value) !== 0 || HOST_NAME.test(value) ? value : undefined));

export const port = integer(0, 65_535);

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

const listOf = (rule: string, parse: (item: string) => string | undefined) =>
  validator<readonly string[]>(`${rule}, separated by commas`, (value) => {
    const items = value.split(',').map((item) => parse(item.trim()));
    return items.every((item) => item !== undefined) ? items : undefined;
  });

/** Returns the origin as browsers send it: in lower case, with Punycode, without a default port. */
export const origins = listOf('origins such as https://app.example.com', (item) => {
  const url = parseHttpUrl(item);
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
