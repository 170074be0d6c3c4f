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
    return new JsonText(
      JSON.stringify(input, (_name, member: unknown) => (typeof member === 'bigint' ? rawJson(String(member)) : member), indent),
    );
  }
}
