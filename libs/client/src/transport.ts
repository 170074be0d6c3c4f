import type { CompletedRequest } from './api-promise.js';
import { AnimalStoreError, APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError, errorOf } from './errors.js';
import { assertNotNumber, definedEntries, parseJson, stringifyJson } from './exact-json.js';
import { parseUrl, warnIfDeprecated } from './headers.js';
import type { CachedResponse } from './memory-cache.js';
import type { ClientOptions, RequestAttempt, RequestOptions } from './options.js';
import { retryDelay, sleep } from './retry.js';

/** Maximum delay of a timer. A timer with a longer delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const VISIBLE_ASCII = /^[!-~]{1,255}$/;
const ENTITY_TAG = /^(?:W\/)?"[!#-~]*"$/;
/** `text/plain` is the type of a `new Response(text)`, such as that of a fake. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]*\+)?json|text\/plain) *(?:;|$)/i;
const DEFAULTS = { timeout: 30_000, totalTimeout: Infinity, maxRetries: 2, minRetryDelay: 500, maxRetryDelay: 8_000 };

export interface APIRequest {
  readonly operation: RequestAttempt['operation'];
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Appended to the path. */
  readonly id?: bigint;
  /** Appended to the id. */
  readonly subpath?: string;
  readonly query?: object;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string;
  /** Returns why the body of a success is not one that the operation can have. A portal or a proxy may have sent it. */
  readonly reject?: (body: unknown) => string | undefined;
}

/** Sends requests and retries them. */
export class Transport {
  private readonly options: ClientOptions & typeof DEFAULTS;
  private readonly prefix: string;

  constructor(options: ClientOptions) {
    if (!options.apiKey) throw new AnimalStoreError('apiKey is required');
    if (!options.baseURL) throw new AnimalStoreError('baseURL is required');
    const apiKey = options.apiKey.trim();
    // The errors of Headers would repeat the key.
    if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('apiKey must be visible ASCII characters');
    this.options = { ...withDefaults(options, DEFAULTS), apiKey };
    this.prefix = `${parseBaseUrl(options.baseURL)}/v1`;
  }

  async send(request: APIRequest, requestOptions: RequestOptions = {}): Promise<CompletedRequest> {
    const { operation, method, body, idempotencyKey } = request;
    const { apiKey, cache, hooks } = this.options;
    const { maxRetries, totalTimeout, timeout, signal } = withDefaults(requestOptions, this.options);
    const url = this.prefix + targetOf(request);
    const text = body && stringifyJson(body);
    const cached = method === 'GET' ? usable(await cache?.get(url), request) : undefined;
    const headers = new Headers({ ...this.options.headers, ...requestOptions.headers });
    headers.set('Authorization', `Bearer ${apiKey}`);
    if (text !== undefined) headers.set('Content-Type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', quoted(idempotencyKey));
    if (cached) headers.set('If-None-Match', cached.etag);
    const retries = isIdempotent(method, headers) ? maxRetries : 0;

    const deadline = performance.now() + totalTimeout;
    for (let attempt = 1; ; attempt++) {
      if (signal?.aborted) throw aborted(signal);
      const current = { operation, method, url, headers: new Headers(headers), attempt };
      await hooks?.onRequest?.(current);
      const timeLeft = deadline - performance.now();
      let error: APIError;
      try {
        const completed = await this.sendAttempt(current, text, Math.min(timeout, timeLeft, MAX_TIMER_MS), signal, cached);
        const reason = request.reject?.(completed.body);
        if (reason !== undefined) throw new APIConnectionError(`The response ${reason}`);
        if (cache && method === 'GET') await store(cache, url, completed);
        return completed;
      } catch (thrown) {
        if (!(thrown instanceof APIError)) throw thrown;
        error = thrown;
      }
      // This does not check `deadline`, because a timer may fire some microseconds early.
      const isOver = error instanceof APIConnectionTimeoutError && timeLeft <= timeout;
      const delay = error.retryable && !isOver && attempt <= retries ? retryDelay(attempt, this.options, error.retryAfter) : undefined;
      const retryInMs = delay !== undefined && performance.now() + delay < deadline ? delay : undefined;
      hooks?.onError?.(current, error, retryInMs);
      if (retryInMs === undefined) throw error;
      await sleep(retryInMs, signal);
    }
  }

  /** Sends one attempt. Resolves after the complete response. */
  private async sendAttempt(
    request: RequestAttempt,
    requestBody: string | undefined,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    cached: CachedResponse | undefined,
  ): Promise<CompletedRequest> {
    const { operation, url, method, headers } = request;
    const { fetch = globalThis.fetch, hooks, logger = console } = this.options;
    const startedAt = performance.now();
    let response: Response;
    let text: string;
    // AbortSignal.any() is missing in browsers of 2023.
    const controller = new AbortController();
    const abort = () => controller.abort();
    const abortion = new Promise<never>((_resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error));
    });
    // If the request ends otherwise, nothing awaits it.
    abortion.catch(() => undefined);
    const timer = setTimeout(abort, timeoutMs);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    try {
      // A redirect could turn a POST into a GET, or send the key to another origin.
      const init = { method, headers, body: requestBody ?? null, signal: controller.signal, redirect: 'manual' } as const;
      // A custom `fetch` may ignore the signal.
      response = await Promise.race([fetch(url, init), abortion]);
      text = await Promise.race([response.text(), abortion]);
    } catch (cause) {
      if (signal?.aborted) throw aborted(signal);
      if (controller.signal.aborted) throw new APIConnectionTimeoutError(`No response within ${Math.round(timeoutMs)} ms`, { cause });
      throw new APIConnectionError('The connection failed before the response was complete', { cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
    const requestId = response.headers.get('X-Request-Id') ?? undefined;
    hooks?.onResponse?.(request, {
      status: response.status,
      headers: response.headers,
      requestId,
      durationMs: performance.now() - startedAt,
    });
    warnIfDeprecated(operation, response.headers, (message) => logger.warn(message));
    rejectRedirect(response, url);
    const reused = response.status === 304 ? cached : undefined;
    if (!response.ok && !reused) throw errorOf(response, text);
    const type = response.headers.get('Content-Type');
    if (text !== '' && type !== null && !JSON_TYPE.test(type))
      throw new APIConnectionError('The response is not of the type application/json');
    try {
      const body = response.status === 204 ? undefined : parseJson(reused?.body ?? text);
      return { response, text, body, link: reused?.link ?? response.headers.get('Link') ?? undefined };
    } catch (cause) {
      throw new APIConnectionError('The response is not valid JSON', { cause });
    }
  }
}

/** Throws for a redirect, and for the response to a redirect that a custom `fetch` followed. */
function rejectRedirect(response: Response, url: string): void {
  const { status, redirected, headers } = response;
  // Browsers hide the status and the target of a redirect.
  const isHidden = response.type === 'opaqueredirect';
  const target = redirected ? response.url : status >= 300 && status < 400 && status !== 304 ? headers.get('Location') : null;
  if (target === null && !isHidden) return;
  const origin = target === null ? undefined : parseUrl(target, url)?.origin;
  const where = origin === undefined ? '' : ` to ${origin}`;
  const message = `The service redirects${where}: the client does not follow redirects, so baseURL must be the final URL`;
  throw new APIError(message, isHidden ? {} : { response });
}

/** Returns the cached response unless it is damaged: revalidating it would fail again and again. */
function usable(cached: CachedResponse | undefined, { reject }: APIRequest): CachedResponse | undefined {
  try {
    return cached && ENTITY_TAG.test(cached.etag) && reject?.(parseJson(cached.body)) === undefined ? cached : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the URL without slashes at the end. */
function parseBaseUrl(text: string): string {
  const { href = '' } = parseUrl(text) ?? {};
  // `href` keeps an empty query or fragment.
  if (!/^https?:\/\/[^?#@]*$/.test(href)) throw new TypeError('baseURL must be an http(s) URL without user name, query or fragment');
  return href.replace(/\/+$/, '');
}

async function store(cache: NonNullable<ClientOptions['cache']>, url: string, { response, text, link }: CompletedRequest): Promise<void> {
  const etag = response.headers.get('ETag');
  if (response.status === 200 && etag !== null && ENTITY_TAG.test(etag)) await cache.set(url, { etag, body: text, link });
}

function aborted({ reason }: AbortSignal): APIUserAbortError {
  return new APIUserAbortError('The request was aborted', { cause: reason });
}

/** Returns whether a request that succeeded has no second effect if it is repeated. */
function isIdempotent(method: APIRequest['method'], headers: Headers): boolean {
  if (method === 'POST') return headers.has('Idempotency-Key');
  return method !== 'PATCH' || headers.has('If-Match');
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
