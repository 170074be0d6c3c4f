/** Returns the target of the first link with this relation type in a `Link` header (RFC 8288). */
export declare function findLink(header: string, relation: string): string | undefined;
/** Logs one warning per process and operation if the response headers mark the operation as deprecated (RFC 9745, RFC 8594). */
export declare function warnIfDeprecated(operation: string, headers: Headers, warn: (message: string) => void): void;
/** Returns undefined for text that is not a URL. `URL.canParse` is missing in browsers of 2023. */
export declare function parseUrl(text: string, base?: string): URL | undefined;
