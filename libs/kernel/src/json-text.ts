declare const value: unique symbol;

/** A value that is serialised already: it is sent as it is, nobody on its way looks into it. */
export class JsonText<Value = unknown> {
  declare readonly [value]: Value;

  constructor(readonly text: string) {}
}
