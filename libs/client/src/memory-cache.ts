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
export class MemoryCache implements ResponseCache {
  private readonly entries = new Map<string, CachedResponse>();

  constructor(private readonly maxEntries = 100) {}

  get(url: string): CachedResponse | undefined {
    const cached = this.entries.get(url);
    if (cached) this.set(url, cached);
    return cached;
  }

  set(url: string, response: CachedResponse): void {
    this.entries.delete(url);
    this.entries.set(url, response);
    const [oldest] = this.entries.keys();
    if (this.entries.size > this.maxEntries && oldest !== undefined) this.entries.delete(oldest);
  }
}
