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
export declare class APIPromise<T> implements Promise<T> {
    private readonly completed;
    private readonly resultOf;
    readonly [Symbol.toStringTag] = "APIPromise";
    constructor(completed: Promise<CompletedRequest>, resultOf: (completed: CompletedRequest) => T);
    /** Resolves to the HTTP response with an unread body. Rejects for an error response, like the promise itself. */
    asResponse(): Promise<Response>;
    /** Resolves to the result and the HTTP response. */
    withResponse(): Promise<WithResponse<T>>;
    then<A = T, B = never>(onFulfilled?: ((value: T) => A | PromiseLike<A>) | null, onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B>;
    catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B>;
    finally(onFinally?: (() => void) | null): Promise<T>;
}
