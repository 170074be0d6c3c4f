import { APIPromise } from './api-promise.cjs';
import type { CreateOptions, RequestOptions } from './options.cjs';
import { PagePromise } from './page.cjs';
import { type APIRequest, Transport } from './transport.cjs';
export { Transport };
type Target = Pick<APIRequest, 'operation' | 'path' | 'reject'>;
/** Requests a page of a list. Its next pages are requested with the same options. */
export declare function listPage<T>(transport: Transport, target: Target, query: object, options: RequestOptions | undefined): PagePromise<T>;
/** Creates a resource. All attempts have the same idempotency key, so retries never create a second one. */
export declare function create<T>(transport: Transport, target: Target, body: object, options: CreateOptions): APIPromise<T>;
/**
 * Runs a command, `POST <path>/<id>/<subpath>`. All attempts have the same idempotency key, so retries have no second effect.
 * @public For contexts with commands, which `pets` does not have.
 */
export declare function command<T>(transport: Transport, target: Target & Required<Pick<APIRequest, 'id' | 'subpath'>>, body: object | undefined, options: CreateOptions): APIPromise<T>;
/** Requests the resource with this id. */
export declare function retrieve<T>(transport: Transport, target: Target, id: bigint, options: RequestOptions | undefined): APIPromise<T>;
