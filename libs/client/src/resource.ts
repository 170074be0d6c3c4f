import { APIPromise } from './api-promise.js';
import { isInt64 } from './exact-json.js';
import type { CreateOptions, RequestOptions } from './options.js';
import { PagePromise } from './page.js';
import { type APIRequest, Transport } from './transport.js';

export { Transport };

interface Target extends Pick<APIRequest, 'path'> {
  /** Returns whether a value is such a resource. Default: whether it is an object with an `id`. */
  readonly isResource?: (value: unknown) => boolean;
}

const hasId = (value: unknown) => isInt64((value as { id?: unknown } | null | undefined)?.id);

/** Requests a page of a list. Its next pages are requested with the same options. */
export function listPage<T>(transport: Transport, target: Target, query: object, options: RequestOptions | undefined): PagePromise<T> {
  const { path, isResource = hasId } = target;
  const isResult = (body: unknown) => Array.isArray(body) && body.every(isResource);
  return new PagePromise<T>(transport.send({ path, query, isResult }, options), (next) => listPage(transport, target, next, options));
}

/**
 * Creates a resource, or runs a command `POST <path>/<id>/<subpath>`. All attempts have the same idempotency key, so retries have no
 * second effect.
 */
export function post<T>(
  transport: Transport,
  { isResource: isResult = hasId, ...target }: Target & Pick<APIRequest, 'id' | 'subpath'>,
  body: object | undefined,
  { idempotencyKey = randomKey(), ...options }: CreateOptions,
): APIPromise<T> {
  const completed = transport.send({ ...target, body, idempotencyKey, isResult }, options);
  return new APIPromise(completed, ({ body }) => body as T);
}

/** Requests the resource with this id. */
export function retrieve<T>(transport: Transport, target: Target, id: bigint, options: RequestOptions | undefined): APIPromise<T> {
  const { path, isResource: isResult = hasId } = target;
  return new APIPromise(transport.send({ path, id, isResult }, options), ({ body }) => body as T);
}

/** Returns 128 random bits as hexadecimal digits. `crypto.randomUUID` does not exist in browsers unless the page is served over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
