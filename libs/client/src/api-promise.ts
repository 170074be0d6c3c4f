/** The response to the last attempt, whose body has been read. */
export interface CompletedRequest {
  readonly response: Response;
  /** The parsed body of the response. */
  readonly body: unknown;
}

/** A result and its HTTP response. */
export interface WithResponse<T> {
  readonly data: T;
  /** Its body has been read: `data` is the result. */
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

  /** Resolves to the result and the HTTP response. */
  async withResponse(): Promise<WithResponse<T>> {
    const completed = await this.completed;
    const { response } = completed;
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
