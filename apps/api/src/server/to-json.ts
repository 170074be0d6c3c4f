declare global {
  interface JSON {
    /** ECMAScript 2026; not in TypeScript's libraries yet. */
    rawJSON(text: string): object;
  }
}

/** Returns JSON text in which each bigint is a number with all its digits. */
export function toJson(value: object): string {
  return JSON.stringify(value, exactIntegers);
}

function exactIntegers(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
}
