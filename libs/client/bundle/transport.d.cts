import type { CompletedRequest } from './api-promise.cjs';
import type { ClientOptions, RequestAttempt, RequestOptions } from './options.cjs';
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
export declare class Transport {
    private readonly options;
    private readonly prefix;
    constructor(options: ClientOptions);
    send(request: APIRequest, requestOptions?: RequestOptions): Promise<CompletedRequest>;
    /** Sends one attempt. Resolves after the complete response. */
    private sendAttempt;
}
