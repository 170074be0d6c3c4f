import { APIPromise } from './api-promise.js';
import { isInt64 } from './exact-json.js';
import type { CreateOptions, RequestOptions } from './options.js';
import { PagePromise } from './page.js';
import { type APIRequest, Transport } from './transport.js';

export { Transport };

interface Target extends Pick<APIRequest, 'path' | 'id' | 'subpath'> {
  /** Returns whether a value is such a resource. Default: whether it is an object with an `id`. */
  readonly isResource?: (value: unknown) => boolean;
}

const hasId = (value: unknown) => isInt64((value as { id?: unknown } | null | undefined)?.id);

/** Requests a page of a list. Its next pages are requested with the same options. */
export function listPage<T>(transport: Transport, target: Target, query: object, options: RequestOptions | undefined): PagePromise<T> {
  const { isResource = hasId, ...request } = target;
  const isResult = (body: unknown) => Array.isArray(body) && body.every(isResource);
  return new PagePromise<T>(transport.send({ ...request, query, isResult }, options), (next) => listPage(transport, target, next, options));
}

/**
 * Creates a resource, or runs a command `POST <path>/<id>/<subpath>`. A body of bytes is a Blob with its media type, or a Uint8Array.
 * All attempts have the same idempotency key, so retries have no second effect.
 */
export function post<T>(transport: Transport, target: Target, body: object | undefined, options: CreateOptions): APIPromise<T> {
  return change(transport, { ...target, method: 'POST', body }, options);
}

/** Changes members of a resource (RFC 7396): `null` removes a value, undefined members stay as they are. Retries are safe like those of `post`. */
export function patch<T>(transport: Transport, target: Target, changes: object, options: CreateOptions): APIPromise<T> {
  return change(transport, { ...target, method: 'PATCH', body: changes }, options);
}

/** Deletes a resource. Retries are safe like those of `post`: they do not fail because an earlier attempt deleted the resource. */
export function remove(transport: Transport, target: Target, options: CreateOptions): APIPromise<void> {
  return change(transport, { isResource: (body) => body === undefined, ...target, method: 'DELETE' }, options);
}

/** Requests a resource, or with a `subpath` and a `query` anything else that belongs to it. */
export function retrieve<T>(transport: Transport, target: Target & Pick<APIRequest, 'query'>, options?: RequestOptions): APIPromise<T> {
  return send(transport, target, options);
}

/** Requests bytes of this media type, such as `application/pdf`. */
export function retrieveBytes(transport: Transport, target: Target, bytesType: string, options?: RequestOptions): APIPromise<Uint8Array> {
  return send(transport, { isResource: (body) => body instanceof Uint8Array, ...target, bytesType }, options);
}

function change<T>(transport: Transport, request: Target & APIRequest, options: CreateOptions): APIPromise<T> {
  const { idempotencyKey = randomKey(), ...others } = options;
  return send(transport, { ...request, idempotencyKey }, others);
}

function send<T>(transport: Transport, request: Target & APIRequest, options?: RequestOptions): APIPromise<T> {
  const { isResource: isResult = hasId, ...others } = request;
  return new APIPromise(transport.send({ ...others, isResult }, options), ({ body }) => body as T);
}

/** Returns 128 random bits as hexadecimal digits. `crypto.randomUUID` does not exist in browsers unless the page is served over HTTPS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
