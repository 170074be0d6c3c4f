import { APIPromise, type CompletedRequest } from './api-promise.cjs';
/** A page of a list. Iteration visits its items and those of all following pages. */
export declare class Page<T> implements AsyncIterable<T> {
    readonly data: readonly T[];
    private readonly requestNext;
    constructor(data: readonly T[], requestNext: (() => PagePromise<T>) | undefined);
    hasNextPage(): boolean;
    /** Requests the next page. Throws if this is the last page. */
    getNextPage(): PagePromise<T>;
    /** Iterates over this page and all following pages. */
    iterPages(): AsyncGenerator<Page<T>, void, undefined>;
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}
/** A promise of a page. Iteration visits its items and those of all following pages. */
export declare class PagePromise<T> extends APIPromise<Page<T>> implements AsyncIterable<T> {
    constructor(completed: Promise<CompletedRequest>, requestNext: (query: object) => PagePromise<T>);
    [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined>;
}
