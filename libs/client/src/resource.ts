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
  return new PagePromise<T>(transport.send({ path, method: 'GET', query, isResult }, options), (next) =>
    listPage(transport, target, next, options),
  );
}

/** Creates a resource. All attempts have the same idempotency key, so retries never create a second one. */
export function create<T>(transport: Transport, target: Target, body: object, options: CreateOptions): APIPromise<T> {
  return post(transport, target, body, options);
}

/**
 * Runs a command, `POST <path>/<id>/<subpath>`. All attempts have the same idempotency key, so retries have no second effect.
 * @public For contexts with commands, which `pets` does not have.
 */
export function command<T>(
  transport: Transport,
  target: Target & Required<Pick<APIRequest, 'id' | 'subpath'>>,
  body: object | undefined,
  options: CreateOptions,
): APIPromise<T> {
  return post(transport, target, body, options);
}

function post<T>(transport: Transport, target: Target, body: object | undefined, options: CreateOptions): APIPromise<T> {
  const { isResource: isResult = hasId, ...request } = target;
  const { idempotencyKey = randomKey(), ...requestOptions } = options;
  return new APIPromise(
    transport.send({ ...request, method: 'POST', body, idempotencyKey, isResult }, requestOptions),
    (completed) => completed.body as T,
  );
}

/** Requests the resource with this id. */
export function retrieve<T>(transport: Transport, target: Target, id: bigint, options: RequestOptions | undefined): APIPromise<T> {
  const { path, isResource: isResult = hasId } = target;
  return new APIPromise(transport.send({ path, method: 'GET', id, isResult }, options), ({ body }) => body as T);
}

/** Returns 128 random bits as hexadecimal digits. `crypto.randomUUID` does not exist in browsers unless the page is served over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
