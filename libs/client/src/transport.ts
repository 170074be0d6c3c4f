import type { CompletedRequest } from './api-promise.js';
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError, errorOf } from './errors.js';
import { assertNotNumber, definedEntries, parseJson, stringifyJson } from './exact-json.js';
import type { ClientOptions, RequestOptions } from './options.js';

/** Maximum delay of a timer. A timer with a longer delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Upper limit of the random delay before a retry. */
const MAX_DELAY_MS = 8_000;
/** After a response with a longer `Retry-After`, the client does not retry. */
const MAX_RETRY_AFTER_MS = 60_000;
const VISIBLE_ASCII = /^[!-~]{1,255}$/;
const DEFAULTS = { timeout: 30_000, maxRetries: 2, minRetryDelay: 500 };

export interface APIRequest {
  /** Default: GET. */
  readonly method?: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Appended to the path. */
  readonly id?: bigint;
  /** Appended to the id. */
  readonly subpath?: string;
  readonly query?: object;
  /** Sent as JSON, unless it is bytes. */
  readonly body?: object | undefined;
  /** All attempts have this key, so retries have no second effect. */
  readonly idempotencyKey?: string;
  /** The media type of a success whose body is bytes, such as `application/pdf`. Default: JSON. */
  readonly bytesType?: string;
  /** Returns whether a success can have this body. A portal or a proxy may have sent another one. */
  readonly isResult?: (body: unknown) => boolean;
}

/** Sends requests and retries them. */
export class Transport {
  private readonly options: ClientOptions & typeof DEFAULTS;
  private readonly prefix: string;

  constructor(options: ClientOptions) {
    const apiKey = options.apiKey?.trim() ?? '';
    // The errors of Headers would repeat the key.
    if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('apiKey is required, and must be visible ASCII characters');
    this.options = { ...withDefaults(options, DEFAULTS), apiKey };
    this.prefix = `${parseBaseUrl(options.baseURL)}/v1`;
  }

  async send(request: APIRequest, requestOptions: RequestOptions = {}): Promise<CompletedRequest> {
    const { method = 'GET', body, idempotencyKey, bytesType, isResult } = request;
    const { maxRetries, timeout, signal } = withDefaults(requestOptions, this.options);
    const url = this.prefix + targetOf(request);
    const headers = new Headers({ ...this.options.headers, ...requestOptions.headers });
    headers.set('Authorization', `Bearer ${this.options.apiKey}`);
    if (body)
      headers.set('Content-Type', isBytes(body) ? typeOf(body) : method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', quoted(idempotencyKey));
    // A redirect could turn a POST into a GET, or send the key to another origin.
    const init: RequestInit = { method, headers, body: body ? (isBytes(body) ? body : stringifyJson(body)) : null, redirect: 'error' };

    for (let attempt = 1; ; attempt++) {
      try {
        const completed = await this.sendAttempt(url, init, bytesType, timeout, signal);
        if (isResult && !isResult(completed.body)) throw new APIConnectionError('The response does not have the shape of the operation');
        return completed;
      } catch (error) {
        if (!(error instanceof APIError) || !error.retryable || attempt > maxRetries) throw error;
        const delay = retryDelay(attempt, this.options.minRetryDelay, error.retryAfter);
        if (delay === undefined) throw error;
        await sleep(delay, signal);
      }
    }
  }

  /** Sends one attempt. Resolves after the complete response. */
  private async sendAttempt(
    url: string,
    init: RequestInit,
    bytesType: string | undefined,
    timeout: number,
    signal: AbortSignal | undefined,
  ): Promise<CompletedRequest> {
    const { fetch = globalThis.fetch } = this.options;
    let response: Response;
    let content: string | Uint8Array;
    // AbortSignal.any() and AbortSignal.timeout() can be garbage-collected together in Node.js 20, without an end of the request.
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, Math.min(timeout, MAX_TIMER_MS));
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    try {
      controller.signal.throwIfAborted();
      response = await fetch(url, { ...init, signal: controller.signal });
      const isBytes = response.ok && bytesType !== undefined && response.headers.get('Content-Type')?.split(';', 1)[0] === bytesType;
      content = isBytes ? new Uint8Array(await response.arrayBuffer()) : await response.text();
    } catch (cause) {
      if (signal?.aborted) throw new APIUserAbortError('The request was aborted', { cause: signal.reason });
      if (controller.signal.aborted) throw new APIConnectionTimeoutError(`No response within ${timeout} ms`, { cause });
      // `fetch` wraps the error of the connection.
      const { message } = ((cause as Error).cause ?? cause) as Error;
      throw new APIConnectionError(`The connection failed before the response was complete: ${message}`, { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
    if (content instanceof Uint8Array) return { response, body: content };
    if (!response.ok) throw errorOf(response, content);
    try {
      return { response, body: response.status === 204 ? undefined : parseJson(content) };
    } catch (cause) {
      throw new APIConnectionError('The response is not valid JSON', { cause });
    }
  }
}

function isBytes(body: object): body is Blob | Uint8Array<ArrayBuffer> {
  return body instanceof Blob || body instanceof Uint8Array;
}

function typeOf(bytes: Blob | Uint8Array): string {
  return (bytes instanceof Blob && bytes.type) || 'application/octet-stream';
}

/** Returns the URL without slashes at the end. */
function parseBaseUrl(text = ''): string {
  const href = URL.canParse(text) ? new URL(text).href : '';
  // `href` keeps an empty query or fragment.
  if (!/^https?:\/\/[^?#@]*$/.test(href))
    throw new TypeError('baseURL is required, and must be an http(s) URL without user name, query or fragment');
  return href.replace(/\/+$/, '');
}

function targetOf({ path, id, subpath, query = {} }: APIRequest): string {
  if (id !== undefined) assertNotNumber('id', id);
  const entries = definedEntries(query).map(([name, value]) => [name, String(value)]);
  const search = entries.length === 0 ? '' : `?${String(new URLSearchParams(entries))}`;
  const resource = id === undefined ? '' : `/${encodeURIComponent(id.toString())}`;
  return path + resource + (subpath === undefined ? '' : `/${subpath}`) + search;
}

/** Returns the key as a String of RFC 9651. */
function quoted(idempotencyKey: string): string {
  if (!VISIBLE_ASCII.test(idempotencyKey)) throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
  return `"${idempotencyKey.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns the values, with defaults for those that are undefined. */
function withDefaults<T extends object, D extends object>(values: T, defaults: D): T & D {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) } as T & D;
}

/**
 * Returns the delay in milliseconds after a failed attempt, or undefined if there is no retry. The number of the first attempt is 1.
 * Without `Retry-After`: exponential backoff with full jitter. With it: `Retry-After`, plus a random delay of up to `minDelay`.
 */
function retryDelay(attempt: number, minDelay: number, retryAfter: number | undefined): number | undefined {
  if (retryAfter === undefined) return Math.random() * Math.min(MAX_DELAY_MS, minDelay * 2 ** (attempt - 1));
  return retryAfter > MAX_RETRY_AFTER_MS ? undefined : retryAfter + Math.random() * minDelay;
}

/** Resolves after the time, or as soon as the signal aborts. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
