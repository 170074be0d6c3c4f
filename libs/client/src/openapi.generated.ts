// Generated from docs/openapi.json by `npm run openapi`. Do not edit.

export interface paths {
  '/pets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List all animals
     * @description A page of the catalogue in ascending order of `id`. If there are more animals, the `Link` header holds the URL of the next page. Needs the scope `pets:read`.
     */
    get: operations['listPets'];
    put?: never;
    /**
     * Add an animal
     * @description Responds after the animal is durably stored. `Location` is a URL of the deprecated `getPet`: to get the animal later, use `listPets` with its `id`. Needs the scope `pets:write`.
     */
    post: operations['createPet'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/pets/{petId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Get an animal
     * @deprecated
     * @description To be removed on 5 December 2030. Use `listPets` with the `status` filter, or with the `id` filter to get a single animal. Needs the scope `pets:read`.
     */
    get: operations['getPet'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    Error: {
      /**
       * @description Machine-readable error code; more may be added.
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
       * @example rate_limited
       * @example request_timeout
       * @example route_not_found
       * @example service_unavailable
       * @example unsupported_media_type
       * @example uri_too_long
       */
      code: string;
      /**
       * @description Human-readable description; may change.
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
       * @description The animal's name, kept exactly as sent.
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
  responses: {
    /** @description The only expectation that is met is 100-continue. */
    ExpectationFailed: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#expectation_failed>; rel="help"
         */
        Link: string;
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The header section is larger than 8192 bytes or has more than 64 fields. */
    HeadersTooLarge: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#headers_too_large>; rel="help"
         */
        Link: string;
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The Idempotency-Key was used with a different body. */
    IdempotencyKeyReused: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#idempotency_key_reused>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The API key lacks a scope that this operation requires. */
    InsufficientScope: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#insufficient_scope>; rel="help"
         */
        Link: string;
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        /**
         * @description The scope that is needed (RFC 6750).
         * @example Bearer realm="animal-store", error="insufficient_scope", scope="pets:read"
         */
        'WWW-Authenticate': string;
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description Something went wrong on our side; the X-Request-Id header helps us find it. */
    InternalError: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#internal_error>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The request is not valid. */
    InvalidRequest: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#invalid_request>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The request is not valid. Or: The body is not well-formed JSON in UTF-8. */
    InvalidRequestOrMalformedJson: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#invalid_request>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description Send an API key: "Authorization: Bearer <API_KEY>". Or: The API key is not valid. */
    MissingApiKeyOrInvalidApiKey: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#missing_api_key>; rel="help"
         */
        Link: string;
        Sunset: components['headers']['Sunset'];
        /**
         * @description How to authenticate (RFC 6750).
         * @example Bearer realm="animal-store", error="invalid_token"
         */
        'WWW-Authenticate': string;
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description This operation has been removed; the Link header names its successor. */
    OperationRemoved: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#operation_removed>; rel="help"
         */
        Link: string;
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The body is larger than 65536 bytes. */
    PayloadTooLarge: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#payload_too_large>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description No animal has this identifier. */
    PetNotFound: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#pet_not_found>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description Too many requests; the Retry-After header says in how many seconds the next one may come. */
    RateLimited: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#rate_limited>; rel="help"
         */
        Link: string;
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        'Retry-After': components['headers']['RetryAfter'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The request did not arrive in time. */
    RequestTimeout: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#request_timeout>; rel="help"
         */
        Link: string;
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The service cannot answer right now; try again shortly. */
    ServiceUnavailable: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#service_unavailable>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        'Retry-After': components['headers']['RetryAfter'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The body must be application/json in UTF-8 without a Content-Encoding. */
    UnsupportedMediaType: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#unsupported_media_type>; rel="help"
         */
        Link: string;
        'Preference-Applied': components['headers']['PreferenceApplied'];
        RateLimit: components['headers']['RateLimit'];
        'RateLimit-Policy': components['headers']['RateLimitPolicy'];
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
    /** @description The request target is longer than 4096 characters. */
    UriTooLong: {
      headers: {
        'Cache-Control': components['headers']['NoStore'];
        Deprecation: components['headers']['Deprecation'];
        /**
         * @description The explanation of the error, `rel="help"` (RFC 8288). On a deprecated operation also what replaces it, `rel="successor-version"`.
         * @example </docs/errors#uri_too_long>; rel="help"
         */
        Link: string;
        Sunset: components['headers']['Sunset'];
        'X-Content-Type-Options': components['headers']['NoSniff'];
        'X-Request-Id': components['headers']['RequestId'];
        [name: string]: unknown;
      };
      content: {
        'application/json': components['schemas']['Error'];
      };
    };
  };
  parameters: {
    /** @description With `handling=strict` (RFC 7240), unknown query parameters and unknown members of the body are errors. */
    Prefer: string;
    /** @description Returned on the response and included in every log line of the request. A value that is not 1 to 128 visible ASCII characters, or that contains an API key, is replaced by a generated one. */
    RequestId: string;
    /** @description Joins the log lines of the request to a trace of the caller (W3C Trace Context). */
    TraceParent: string;
  };
  requestBodies: never;
  headers: {
    /**
     * @description On a deprecated operation: since when it is deprecated (RFC 9745).
     * @example @1764892800
     */
    Deprecation: string;
    /**
     * @description The content is what its type says.
     * @example nosniff
     */
    NoSniff: string;
    /**
     * @description Errors are not cached.
     * @example no-store
     */
    NoStore: string;
    /**
     * @description When the request preferred strict handling.
     * @example handling=strict
     */
    PreferenceApplied: string;
    /**
     * @description How many requests the client has left, and for how many seconds.
     * @example "default";r=5999;t=60
     */
    RateLimit: string;
    /**
     * @description How many requests a client may send in how many seconds.
     * @example "default";q=6000;w=60
     */
    RateLimitPolicy: string;
    /**
     * @description The request's X-Request-Id if it is valid, otherwise a generated one.
     * @example 5f0c7a52-9f3e-4f5e-8f0b-6c1d2a3b4c5d
     */
    RequestId: string;
    /**
     * @description Seconds to wait before the next attempt.
     * @example 1
     */
    RetryAfter: string;
    /**
     * @description On a deprecated operation: when it is removed (RFC 8594).
     * @example Thu, 05 Dec 2030 00:00:00 GMT
     */
    Sunset: string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listPets: {
    parameters: {
      query?: {
        /** @description The page to continue with, as the `Link` header of the page before it says. It belongs to the filters of that page. */
        cursor?: string;
        /** @description Only the animal with this identifier: the page holds it, or nothing. */
        id?: bigint;
        /** @description Maximum number of animals returned. */
        limit?: number;
        /** @description Only animals of this availability status. */
        status?: components['schemas']['PetStatus'];
      };
      header?: {
        /** @description ETags of the answers the client has, or `*`. */
        'If-None-Match'?: string;
        /** @description With `handling=strict` (RFC 7240), unknown query parameters and unknown members of the body are errors. */
        Prefer?: components['parameters']['Prefer'];
        /** @description Joins the log lines of the request to a trace of the caller (W3C Trace Context). */
        traceparent?: components['parameters']['TraceParent'];
        /** @description Returned on the response and included in every log line of the request. A value that is not 1 to 128 visible ASCII characters, or that contains an API key, is replaced by a generated one. */
        'X-Request-Id'?: components['parameters']['RequestId'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A paginated list of animals */
      200: {
        headers: {
          /**
           * @description Caches have to revalidate.
           * @example private, no-cache
           */
          'Cache-Control': string;
          /**
           * @description Identifies this answer, body and Link (RFC 9110).
           * @example "2jmj7l5rSw0yVb_vlWAYkK_YBwk"
           */
          ETag: string;
          /**
           * @description The next page (RFC 8288), exactly when there is one. Follow it as it is.
           * @example </v1/pets?limit=20&status=available&cursor=AgAAAAAAAAAUzKMyIA>; rel="next"
           */
          Link?: string;
          'Preference-Applied': components['headers']['PreferenceApplied'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          'X-Content-Type-Options': components['headers']['NoSniff'];
          'X-Request-Id': components['headers']['RequestId'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Pets'];
        };
      };
      /** @description The answer the client has is current. */
      304: {
        headers: {
          /**
           * @description Caches have to revalidate.
           * @example private, no-cache
           */
          'Cache-Control': string;
          /**
           * @description Identifies this answer, body and Link (RFC 9110).
           * @example "2jmj7l5rSw0yVb_vlWAYkK_YBwk"
           */
          ETag: string;
          'Preference-Applied': components['headers']['PreferenceApplied'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          'X-Content-Type-Options': components['headers']['NoSniff'];
          'X-Request-Id': components['headers']['RequestId'];
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['InvalidRequest'];
      401: components['responses']['MissingApiKeyOrInvalidApiKey'];
      403: components['responses']['InsufficientScope'];
      408: components['responses']['RequestTimeout'];
      414: components['responses']['UriTooLong'];
      417: components['responses']['ExpectationFailed'];
      429: components['responses']['RateLimited'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['ServiceUnavailable'];
    };
  };
  createPet: {
    parameters: {
      query?: never;
      header?: {
        /** @description Text of your own, such as a UUID, that makes retries safe: a repetition with the same key and an equal body answers what the first request answered, with `Idempotent-Replayed: true`; with a different body it is refused. A key is kept for 24 hours and belongs to one client, whichever of its API keys it uses. */
        'Idempotency-Key'?: string;
        /** @description With `handling=strict` (RFC 7240), unknown query parameters and unknown members of the body are errors. */
        Prefer?: components['parameters']['Prefer'];
        /** @description Joins the log lines of the request to a trace of the caller (W3C Trace Context). */
        traceparent?: components['parameters']['TraceParent'];
        /** @description Returned on the response and included in every log line of the request. A value that is not 1 to 128 visible ASCII characters, or that contains an API key, is replaced by a generated one. */
        'X-Request-Id'?: components['parameters']['RequestId'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['NewPet'];
      };
    };
    responses: {
      /** @description Animal added */
      201: {
        headers: {
          /**
           * @description `true` when an earlier request with the same Idempotency-Key created it.
           * @example true
           */
          'Idempotent-Replayed'?: string;
          /**
           * @description Address of what was created.
           * @example /v1/pets/9007199254740993
           */
          Location: string;
          'Preference-Applied': components['headers']['PreferenceApplied'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          'X-Content-Type-Options': components['headers']['NoSniff'];
          'X-Request-Id': components['headers']['RequestId'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Pet'];
        };
      };
      400: components['responses']['InvalidRequestOrMalformedJson'];
      401: components['responses']['MissingApiKeyOrInvalidApiKey'];
      403: components['responses']['InsufficientScope'];
      408: components['responses']['RequestTimeout'];
      413: components['responses']['PayloadTooLarge'];
      414: components['responses']['UriTooLong'];
      415: components['responses']['UnsupportedMediaType'];
      417: components['responses']['ExpectationFailed'];
      422: components['responses']['IdempotencyKeyReused'];
      429: components['responses']['RateLimited'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['ServiceUnavailable'];
    };
  };
  getPet: {
    parameters: {
      query?: never;
      header?: {
        /** @description ETags of the answers the client has, or `*`. */
        'If-None-Match'?: string;
        /** @description With `handling=strict` (RFC 7240), unknown query parameters and unknown members of the body are errors. */
        Prefer?: components['parameters']['Prefer'];
        /** @description Joins the log lines of the request to a trace of the caller (W3C Trace Context). */
        traceparent?: components['parameters']['TraceParent'];
        /** @description Returned on the response and included in every log line of the request. A value that is not 1 to 128 visible ASCII characters, or that contains an API key, is replaced by a generated one. */
        'X-Request-Id'?: components['parameters']['RequestId'];
      };
      path: {
        /** @description Identifier of the animal. */
        petId: bigint;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Animal found */
      200: {
        headers: {
          /**
           * @description Caches have to revalidate.
           * @example private, no-cache
           */
          'Cache-Control': string;
          /**
           * @description Since when the operation is deprecated (RFC 9745).
           * @example @1764892800
           */
          Deprecation: string;
          /**
           * @description Identifies this answer, body and Link (RFC 9110).
           * @example "2jmj7l5rSw0yVb_vlWAYkK_YBwk"
           */
          ETag: string;
          /**
           * @description What replaces the operation (RFC 8288).
           * @example </v1/pets>; rel="successor-version"
           */
          Link: string;
          'Preference-Applied': components['headers']['PreferenceApplied'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          /**
           * @description When the operation is removed (RFC 8594).
           * @example Thu, 05 Dec 2030 00:00:00 GMT
           */
          Sunset: string;
          'X-Content-Type-Options': components['headers']['NoSniff'];
          'X-Request-Id': components['headers']['RequestId'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Pet'];
        };
      };
      /** @description The answer the client has is current. */
      304: {
        headers: {
          /**
           * @description Caches have to revalidate.
           * @example private, no-cache
           */
          'Cache-Control': string;
          /**
           * @description Since when the operation is deprecated (RFC 9745).
           * @example @1764892800
           */
          Deprecation: string;
          /**
           * @description Identifies this answer, body and Link (RFC 9110).
           * @example "2jmj7l5rSw0yVb_vlWAYkK_YBwk"
           */
          ETag: string;
          /**
           * @description What replaces the operation (RFC 8288).
           * @example </v1/pets>; rel="successor-version"
           */
          Link: string;
          'Preference-Applied': components['headers']['PreferenceApplied'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          /**
           * @description When the operation is removed (RFC 8594).
           * @example Thu, 05 Dec 2030 00:00:00 GMT
           */
          Sunset: string;
          'X-Content-Type-Options': components['headers']['NoSniff'];
          'X-Request-Id': components['headers']['RequestId'];
          [name: string]: unknown;
        };
        content?: never;
      };
      400: components['responses']['InvalidRequest'];
      401: components['responses']['MissingApiKeyOrInvalidApiKey'];
      403: components['responses']['InsufficientScope'];
      404: components['responses']['PetNotFound'];
      408: components['responses']['RequestTimeout'];
      410: components['responses']['OperationRemoved'];
      414: components['responses']['UriTooLong'];
      417: components['responses']['ExpectationFailed'];
      429: components['responses']['RateLimited'];
      431: components['responses']['HeadersTooLarge'];
      500: components['responses']['InternalError'];
      503: components['responses']['ServiceUnavailable'];
    };
  };
}
/** The error codes of this version of the service. */
export type KnownErrorCode =
  | 'expectation_failed'
  | 'headers_too_large'
  | 'idempotency_key_reused'
  | 'insufficient_scope'
  | 'internal_error'
  | 'invalid_api_key'
  | 'invalid_request'
  | 'malformed_json'
  | 'method_not_allowed'
  | 'missing_api_key'
  | 'operation_removed'
  | 'payload_too_large'
  | 'pet_not_found'
  | 'rate_limited'
  | 'request_timeout'
  | 'route_not_found'
  | 'service_unavailable'
  | 'unsupported_media_type'
  | 'uri_too_long';

/** Names of the members and parameters that are int64. */
export const INT64_MEMBERS: ReadonlySet<string> = new Set(['categoryId', 'id', 'petId']);
