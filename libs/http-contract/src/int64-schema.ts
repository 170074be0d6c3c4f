/** The schema of an int64 in the OpenAPI document. */
export const INT64_SCHEMA = { type: 'integer', format: 'int64' } as const;

/** The identifier in examples of the OpenAPI document. It is above 2^53, so a JavaScript number would round it. */
export const EXAMPLE_ID = 2n ** 53n + 1n;
