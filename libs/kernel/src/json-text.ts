declare const value: unique symbol;

// ECMAScript 2026, newer than TypeScript's library.
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** A value that is serialised already: it is sent as it is, nobody on its way looks into it. */
export class JsonText<Value = unknown> {
  declare readonly [value]: Value;

  constructor(readonly text: string) {}

  /**
   * Writes a bigint as a JSON number, digit for digit.
   * @param indent spaces for each level; without it the text is one line
   */
  static of<Value>(written: Value, indent?: number): JsonText<Value> {
    return new JsonText(
      JSON.stringify(written, (_name, member: unknown) => (typeof member === 'bigint' ? rawJson(String(member)) : member), indent),
    );
  }
}
