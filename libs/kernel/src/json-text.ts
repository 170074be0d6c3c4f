declare const value: unique symbol;

// ECMAScript 2026. TypeScript's library does not have it yet.
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** A value that is already serialised as JSON. It is sent unchanged. */
export class JsonText<Value = unknown> {
  declare readonly [value]: Value;

  constructor(readonly text: string) {}

  /**
   * Serialises a value. Bigints become exact JSON numbers.
   * @param indent number of spaces per level; by default, the text is one line
   */
  static of<Value>(input: Value, indent?: number): JsonText<Value> {
    return new JsonText(JSON.stringify(withNumbers(input), undefined, indent));
  }
}

/** Returns a copy with numbers instead of bigints. A replacer function would take five times as long. */
function withNumbers(input: unknown): unknown {
  if (typeof input === 'bigint') return Number.isSafeInteger(Number(input)) ? Number(input) : rawJson(String(input));
  if (typeof input !== 'object' || input === null) return input;
  if (Array.isArray(input)) return input.map(withNumbers);
  if ('toJSON' in input && typeof input.toJSON === 'function') return withNumbers((input as { toJSON(): unknown }).toJSON());
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(input)) {
    const member = withNumbers((input as Record<string, unknown>)[name]);
    // An assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: member, enumerable: true });
    else copy[name] = member;
  }
  return copy;
}
