/** The identifier in examples of the OpenAPI document. Above 2^53: a JavaScript number would round it. */
export const EXAMPLE_ID = 2n ** 53n + 1n;
