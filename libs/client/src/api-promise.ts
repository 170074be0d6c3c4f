/** The response to the last attempt, read completely. */
export interface CompletedRequest {
  readonly response: Response;
  /** Body of the response. Empty for a 204 or 304. */
  readonly text: string;
  /** The parsed body of the response; for a 304, of the cached response. Undefined for a 204. */
  readonly body: unknown;
  /** `Link` of the response; for a 304, of the cached response. */
  readonly link: string | undefined;
}

/** A result and its HTTP response. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: Response;
  readonly requestId: string | undefined;
}

/** A promise of a result, with access to the HTTP response. The request starts immediately, not when the promise is awaited. */
export class APIPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'APIPromise';

  constructor(
    private readonly completed: Promise<CompletedRequest>,
    private readonly resultOf: (completed: CompletedRequest) => T,
  ) {}

  /** Resolves to the HTTP response with an unread body. Rejects for an error response, like the promise itself. */
  async asResponse(): Promise<Response> {
    return toUnreadResponse(await this.completed);
  }

  /** Resolves to the result and the HTTP response. */
  async withResponse(): Promise<WithResponse<T>> {
    const completed = await this.completed;
    const response = toUnreadResponse(completed);
    return { data: this.resultOf(completed), response, requestId: response.headers.get('X-Request-Id') ?? undefined };
  }

  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.completed.then(this.resultOf).then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.completed.then(this.resultOf).finally(onFinally);
  }
}

/** Returns a copy with an unread body. The transport has read the original, because it retries incomplete responses. */
function toUnreadResponse({ response, text }: CompletedRequest): Response {
  const { status, statusText, headers, url } = response;
  const copy = new Response(text === '' ? null : text, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}
