import fc from 'fast-check';
import { mostly, MAX_LENGTH, visible, visibleByte, words } from './hostile-bytes.js';

const queryName = mostly(
  fc.constantFrom(...words`limit status id cursor`),
  fc.constantFrom('', ...words`Limit limit[] status[$ne] __proto__ constructor __proto__[limit] %6cimit api_key a.b`),
);
const queryValue = fc.oneof(
  fc.constantFrom(...words`1 20 100 available pending sold`),
  fc.constantFrom('', ' 1', '9'.repeat(400), ...words`0 101 -1 +5 1e1 1.0 0x10 1%00 ٣ NaN Infinity AVAILABLE`),
  fc.constantFrom('%0d%0aX: y', '[object Object]', "' OR 1=1--", ...words`% %zz %00 %c0%af %ed%a0%80 %F0%9F%98%80 %25 + {}`),
  fc.base64String({ maxLength: 40 }).map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  fc.uint8Array({ minLength: 10, maxLength: 10 }).map((cursor) => Buffer.from(cursor).toString('base64url')),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.string({ unit: visible, maxLength: MAX_LENGTH }).map(encodeURIComponent),
);
const query = fc
  .array(
    fc.tuple(queryName, queryValue).map(([name, value]) => `${name}=${value}`),
    { maxLength: 4 },
  )
  .chain((pairs) => fc.constantFrom('&', '&', '&', ';', '&&', '?').map((separator) => pairs.join(separator)));

const petId = fc.oneof(
  fc.integer({ min: 1, max: 50 }).map(String),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc.constantFrom(
    ...words`9223372036854775807 9223372036854775808 -9223372036854775808 -0 0 01 1.0 1e0 - --1 null undefined NaN __proto__ toString`,
  ),
  fc.constantFrom(1000, 4070, 5000).map((length) => '9'.repeat(length)),
  fc.string({ unit: visible, minLength: 1, maxLength: MAX_LENGTH }).map(encodeURIComponent),
);
const strangePath = fc.oneof(
  fc.constantFrom(...words`/ // * /v1 /v1/ /v1/pets/ /v1//pets //v1/pets /v1/pets// /v1/pets/1/ /v1/pets/1/2 /V1/PETS`),
  fc.constantFrom(...words`/v2/pets /v1/%70ets /v1%2Fpets /v1/pets/%2e%2e /v1/../v1/pets /v1/pets/..%2f..%2fetc%2fpasswd /v1/pets;a=b`),
  fc.constantFrom(...words`/v1/pets/% /v1/pets/%zz /v1/pets/%00 /v1/pets/%c0%af /v1/pets/%25 /v1/pets/1#fragment /v1/pets/1%0d%0a`),
  fc.constantFrom(
    ...words`
    http://example.com/v1/pets https://a:b@example.com/v1/pets example.com:443 file:///etc/passwd
    http://[ https://%zz/%zz http://x:x/v1/pets v1/pets \v1\pets`,
  ),
  fc.constantFrom(
    ...words`/health/live /health/ready /health /openapi.json /docs /docs/ /docs/assets/docs.css /docs/assets/..%2f..%2fpackage.json`,
  ),
  fc.constantFrom(
    ...words`/docs/assets/__proto__ /docs/assets/constructor /metrics /favicon.ico /.env /.git/config /v1/pets/:petId /{petId}`,
  ),
  fc.string({ unit: visibleByte, maxLength: MAX_LENGTH }).map((path) => `/${path}`),
  fc.string({ unit: visible, maxLength: MAX_LENGTH }).map((path) => `/v1/pets/${path}`),
  fc.constantFrom(4095, 4096, 4097, 7000, 9000).map((length) => `/${'a'.repeat(length - 1)}`),
);
/** Request targets. */
export const target = fc
  .tuple(
    mostly(
      fc.oneof(
        fc.constant('/v1/pets'),
        petId.map((id) => `/v1/pets/${id}`),
      ),
      strangePath,
    ),
    fc.option(query, { nil: undefined, freq: 2 }),
  )
  .map(([path, parameters]) => (parameters === undefined ? path : `${path}?${parameters}`));
