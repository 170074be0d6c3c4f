import fc, { type Arbitrary } from 'fast-check';
import type { ApiDocument, Schema, SchemaOrReference } from './api-document.js';

/** Number of characters and elements above the minimum. */
const USUAL_LENGTH = 40;
const USUAL_ITEMS = 4;
/** Of values without a maximum. */
const MAX_LENGTH = 1000;
const MAX_ITEMS = 200;
const INT64_MAX = 2n ** 63n - 1n;
const INT32_MAX = 2n ** 31n - 1n;
/** Identifiers of a new database. */
const FIRST_IDS = { min: 1n, max: 50n };

/** Changes how the values of a schema and of its members are generated, for example so that some are invalid. */
export type Vary = (valid: Arbitrary<string>) => Arbitrary<string>;

const unchanged: Vary = (valid) => valid;

/** Any Unicode character but a surrogate. */
const character = fc.integer({ min: 0, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed());
/** Times whose year any rule accepts, often on the hour. They do not depend on the clock, so that a seed repeats them. */
const time = fc
  .tuple(fc.date({ min: new Date('2020-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }), fc.boolean())
  .map(([date, isExact]) => (isExact ? date.toISOString() : date.toISOString().replace(/:.*/, ':00:00Z')));

/** Generates values that conform to schemas of the document, as JSON texts. */
export class SchemaValues {
  /** @param ids identifiers that exist, as JSON texts */
  constructor(
    private readonly api: ApiDocument,
    private readonly ids: readonly string[],
  ) {}

  json(reference: SchemaOrReference, vary: Vary = unchanged): Arbitrary<string> {
    const schema = this.merged(reference);
    const generated = this.valueOf(schema, vary);
    const { example } = schema;
    return vary(example === undefined ? generated : fc.oneof(generated, generated, fc.constant(JSON.stringify(example))));
  }

  /** Generates values as they are sent outside of bodies. */
  text(reference: SchemaOrReference): Arbitrary<string> {
    return this.json(reference).map((json) => (json.startsWith('"') ? (JSON.parse(json) as string) : json));
  }

  /** Returns the schema that a reference leads to, with the members of its `allOf`. */
  merged(reference: SchemaOrReference): Schema {
    const { allOf = [], ...own } = this.api.resolve<Schema>(reference);
    const parts = [...allOf.map((part) => this.merged(part)), own];
    const properties = Object.assign({}, ...parts.map((part) => part.properties)) as NonNullable<Schema['properties']>;
    return {
      ...(Object.assign({}, ...parts) as Schema),
      ...(Object.keys(properties).length > 0 && { properties, required: parts.flatMap(({ required = [] }) => required) }),
    };
  }

  private valueOf(schema: Schema, vary: Vary): Arbitrary<string> {
    const { enum: values, type } = schema;
    if (values) return fc.constantFrom(...values.map((value) => JSON.stringify(value)));
    const alternatives =
      schema.anyOf ?? schema.oneOf ?? (typeof type === 'object' ? type.map((one) => ({ ...schema, type: one })) : undefined);
    if (alternatives) return fc.oneof(...alternatives.map((alternative) => this.json(alternative, vary)));
    switch (type) {
      case 'null':
        return fc.constant('null');
      case 'boolean':
        return fc.boolean().map(String);
      case 'integer':
        return this.integerOf(schema);
      case 'number':
        return fc.oneof(this.integerOf(schema), numberOf(schema));
      case 'string':
        return stringOf(schema).map((text) => JSON.stringify(text));
      case 'array':
        return this.arrayOf(schema, vary);
      case 'object':
        return this.objectOf(schema, vary);
      default:
        return fc.json({ maxDepth: 3 });
    }
  }

  private integerOf({ format, minimum, maximum }: Schema): Arbitrary<string> {
    const limit = format === 'int64' ? INT64_MAX : INT32_MAX;
    const [min, max] = [BigInt(minimum ?? -limit - 1n), BigInt(maximum ?? limit)];
    const within = fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(min, max)).map(String);
    if (minimum !== undefined || maximum !== undefined || format !== 'int64') return within;
    const known = this.ids.length > 0 ? [{ weight: 6, arbitrary: fc.constantFrom(...this.ids) }] : [];
    return fc.oneof(...known, { weight: 1, arbitrary: fc.bigInt(FIRST_IDS).map(String) }, { weight: 1, arbitrary: within });
  }

  private arrayOf({ items = {}, minItems = 0, maxItems = MAX_ITEMS }: Schema, vary: Vary): Arbitrary<string> {
    const item = this.json(items, vary);
    const longest = Math.min(maxItems, MAX_ITEMS);
    return fc
      .oneof(
        { weight: 9, arbitrary: fc.array(item, { minLength: minItems, maxLength: Math.min(longest, minItems + USUAL_ITEMS) }) },
        { weight: 1, arbitrary: fc.array(item, { minLength: longest, maxLength: longest }) },
      )
      .map((texts) => `[${texts.join()}]`);
  }

  private objectOf({ properties = {}, required = [] }: Schema, vary: Vary): Arbitrary<string> {
    const members = Object.entries(properties).map(([name, schema]) => {
      const member = this.json(schema, vary).map((value) => `${JSON.stringify(name)}:${value}`);
      return required.includes(name) ? member : fc.option(member, { nil: '', freq: 2 });
    });
    return fc.tuple(...members).map((texts) => `{${texts.filter((text) => text !== '').join()}}`);
  }
}

function numberOf({ minimum, maximum }: Schema): Arbitrary<string> {
  return fc
    .double({ min: minimum ?? -1e9, max: maximum ?? 1e9, noNaN: true, noDefaultInfinity: true })
    .map((value) => JSON.stringify(value));
}

function stringOf({ format, pattern, minLength = 0, maxLength = Infinity }: Schema): Arbitrary<string> {
  if (format === 'date-time') return time;
  if (format === 'date') return time.map((text) => text.slice(0, 10));
  if (format === 'uuid') return fc.uuid();
  const isValid = (text: string) =>
    [...text].length >= minLength && [...text].length <= maxLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const longest = ['x', '0', '😀'].map((unit) => unit.repeat(Math.min(maxLength, MAX_LENGTH))).filter(isValid);
  const bounds = { minLength, maxLength: Math.min(maxLength, minLength + USUAL_LENGTH) };
  const usual = pattern === undefined ? fc.string({ unit: character, ...bounds }) : fc.stringMatching(new RegExp(pattern, 'u'));
  return fc.oneof({ weight: 4, arbitrary: usual.filter(isValid) }, ...longest.map((text) => ({ weight: 1, arbitrary: fc.constant(text) })));
}
