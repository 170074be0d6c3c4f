export interface components {
    schemas: {
        Error: {
            /**
             * @description Machine-readable error code. More codes may be added.
             * @example expectation_failed
             * @example headers_too_large
             * @example idempotency_key_reused
             * @example insufficient_scope
             * @example internal_error
             * @example invalid_api_key
             * @example invalid_request
             * @example malformed_json
             * @example method_not_allowed
             * @example missing_api_key
             * @example operation_removed
             * @example payload_too_large
             * @example pet_not_found
             * @example precondition_failed
             * @example rate_limited
             * @example request_timeout
             * @example route_not_found
             * @example service_unavailable
             * @example unsupported_media_type
             * @example uri_too_long
             */
            code: string;
            /**
             * @description Human-readable description. The text may change.
             * @example limit must be an integer from 1 to 100
             */
            message: string;
            /**
             * @description The HTTP status code of the response.
             * @example 400
             */
            status: number;
        };
        NewPet: {
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 9007199254740993
             */
            categoryId: bigint;
            /**
             * @description The animal's name. Stored and returned exactly as sent.
             * @example Rex
             */
            name: string;
            /** @description Availability status. Default: `available`. */
            status?: components['schemas']['PetStatus'];
        };
        Pet: {
            /**
             * Format: int64
             * @description Identifier of the category the animal belongs to.
             * @example 9007199254740993
             */
            categoryId: bigint;
            /**
             * Format: int64
             * @description Unique identifier assigned by the service on creation.
             * @example 9007199254740993
             */
            id: bigint;
            /**
             * @description The animal's name.
             * @example Rex
             */
            name: string;
            /**
             * @description Availability status.
             * @example available
             */
            status: components['schemas']['PetStatus'];
        };
        Pets: components['schemas']['Pet'][];
        /**
         * @description Availability status.
         * @enum {string}
         */
        PetStatus: 'available' | 'pending' | 'sold';
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    listPets: {
        parameters: {
            query?: {
                /** @description Cursor from the `Link` header of the previous page. Valid only with the same filters. */
                cursor?: string;
                /** @description Returns only the animal with this identifier, or an empty page. */
                id?: bigint;
                /** @description Maximum number of animals returned. */
                limit?: number;
                /** @description Returns only animals with this availability status. */
                status?: components['schemas']['PetStatus'];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    createPet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                'application/json': components['schemas']['NewPet'];
            };
        };
        responses: never;
    };
    getPet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Identifier of the animal. */
                petId: bigint;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
}
/** The error codes of this version of the service. */
export type KnownErrorCode = 'expectation_failed' | 'headers_too_large' | 'idempotency_key_reused' | 'insufficient_scope' | 'internal_error' | 'invalid_api_key' | 'invalid_request' | 'malformed_json' | 'method_not_allowed' | 'missing_api_key' | 'operation_removed' | 'payload_too_large' | 'pet_not_found' | 'precondition_failed' | 'rate_limited' | 'request_timeout' | 'route_not_found' | 'service_unavailable' | 'unsupported_media_type' | 'uri_too_long';
/** Names of the members and parameters that are int64. */
export declare const INT64_MEMBERS: ReadonlySet<string>;
