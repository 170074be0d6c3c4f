/**
 * Parses JSON, with int64 members as bigints. `JSON.parse` rounds integers above 2^53. In Node.js 20 and some browsers, its reviver
 * cannot access the source text. So numbers are parsed as strings with the prefix `n`, and strings get the prefix `s`.
 */
export declare function parseJson(text: string): unknown;
/** Returns a value as JSON, with bigints as numbers. */
export declare function stringifyJson(value: unknown): string;
/** Returns the members that are not undefined. Throws if an int64 member has the type `number`, because its value may be rounded already. */
export declare function definedEntries(value: object): [name: string, member: unknown][];
export declare function isInt64(value: unknown): value is bigint;
export declare function assertNotNumber(name: string, value: unknown): void;
