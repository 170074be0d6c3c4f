/** The schema of an int64 in the OpenAPI document. */
export const INT64_SCHEMA = { type: 'integer', format: 'int64' } as const;
