import fc, { type Arbitrary } from 'fast-check';
import type { Operation } from '../openapi/api-document.js';
import { mostly, MAX_LENGTH, visible, visibleByte, words } from './hostile-bytes.js';

const queryValue = fc.oneof(
  fc.constantFrom('', ' 1', '9'.repeat(400), ...words`0 1 101 -1 +5 1e1 1.0 0x10 1%00 ٣ NaN Infinity AVAILABLE`),
  fc.constantFrom('%0d%0aX: y', '[object Object]', "' OR 1=1--", ...words`% %zz %00 %c0%af %ed%a0%80 %F0%9F%98%80 %25 + {}`),
  fc.base64String({ maxLength: 40 }).map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  fc.uint8Array({ minLength: 10, maxLength: 10 }).map((cursor) => Buffer.from(cursor).toString('base64url')),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.string({ unit: visible, maxLength: MAX_LENGTH }).map(encodeURIComponent),
);
const strangeName = fc.constantFrom('', ...words`Limit limit[] status[$ne] __proto__ constructor __proto__[limit] %6cimit api_key a.b`);

/** Generates the part of a target from `?` on, with hostile values of the operation's parameters. */
export function hostileQuery({ parameters }: Operation): Arbitrary<string> {
  const names = ['limit', ...parameters.flatMap((parameter) => (parameter.in === 'query' ? parameter.name : []))];
  const pair = fc.tuple(mostly(fc.constantFrom(...names), strangeName), queryValue).map(([name, value]) => `${name}=${value}`);
  return fc
    .array(pair, { maxLength: 4 })
    .chain((pairs) => fc.constantFrom('&', '&', '&', ';', '&&', '?').map((separator) => `?${pairs.join(separator)}`));
}

const segment = fc.oneof(
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.constantFrom(
    ...words`9223372036854775807 9223372036854775808 -9223372036854775808 -0 0 01 1.0 1e0 - --1 null undefined NaN __proto__ toString`,
  ),
  fc.constantFrom(...words`% %zz %00 %c0%af %25 1%0d%0a %2e%2e ..%2f..%2fetc%2fpasswd 1#fragment`),
  fc.constantFrom(1000, 4070, 5000).map((length) => '9'.repeat(length)),
  fc.string({ unit: visible, minLength: 1, maxLength: MAX_LENGTH }),
  fc.string({ unit: visible, minLength: 1, maxLength: MAX_LENGTH }).map(encodeURIComponent),
);
const otherPath = fc.oneof(
  fc.constantFrom(...words`/ // * /v1 /v1/ /missing`),
  fc.constantFrom(...words`example.com:443 file:///etc/passwd http://[ https://%zz/%zz http://x:x/v1 v1 \v1`),
  fc.constantFrom(
    ...words`/health/live /health/ready /health /openapi.json /docs /docs/ /docs/assets/docs.css /docs/assets/..%2f..%2fpackage.json`,
  ),
  fc.constantFrom(...words`/docs/assets/__proto__ /docs/assets/constructor /metrics /favicon.ico /.env /.git/config`),
  fc.string({ unit: visibleByte, maxLength: MAX_LENGTH }).map((path) => `/${path}`),
  fc.constantFrom(4095, 4096, 4097, 7000, 9000).map((length) => `/${'a'.repeat(length - 1)}`),
);

/** Generates paths of the operation with hostile parameters, and paths that differ from those of the document. */
export function hostilePath({ path }: Operation): Arbitrary<string> {
  const resource = path.replace(/\{[^}]+\}/g, '1');
  const [, version = '', rest = ''] = /^\/(\w+)\/(.*)/.exec(resource) ?? [];
  const strangePath = fc.constantFrom(
    ...[`${resource}/`, `${resource}//`, `/${resource}`, `/${version}//${rest}`, `/v2/${rest}`, resource.toUpperCase(), `${resource}/1/2`],
    ...[`/${version}%2F${rest}`, `/${version}/../${version}/${rest}`, `${resource};a=b`, path, path.replaceAll(/\{(\w+)\}/g, ':$1')],
    ...[
      `/${version}/%${rest.charCodeAt(0).toString(16)}${rest.slice(1)}`,
      `http://example.com${resource}`,
      `https://a:b@example.com${resource}`,
    ],
  );
  const below = segment.map((last) => `${resource}/${last}`);
  const within = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => withSegments(path, segments));
  return fc.oneof(...(path.includes('{') ? [within, within] : [below]), strangePath, otherPath);
}

/** Replaces the parameters of a path by the segments in turn. */
function withSegments(path: string, segments: readonly string[]): string {
  let next = 0;
  return path.replace(/\{[^}]+\}/g, () => segments[next++ % segments.length] ?? '');
}
