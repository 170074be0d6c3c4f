/** A cached response. All members are strings, so it can be stored as JSON. */
export interface CachedResponse {
    readonly etag: string;
    readonly body: string;
    readonly link?: string | undefined;
}
/** Stores responses by URL. The client revalidates a response with `If-None-Match` before each use. */
export interface ResponseCache {
    get(url: string): CachedResponse | undefined | Promise<CachedResponse | undefined>;
    set(url: string, response: CachedResponse): unknown;
}
/** Keeps the most recently used responses in memory, at most 100 by default. */
export declare class MemoryCache implements ResponseCache {
    private readonly maxEntries;
    private readonly entries;
    constructor(maxEntries?: number);
    get(url: string): CachedResponse | undefined;
    set(url: string, response: CachedResponse): void;
}
