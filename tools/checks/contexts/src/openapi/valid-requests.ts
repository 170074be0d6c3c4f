import fc, { type Arbitrary } from 'fast-check';
import type { ApiDocument, Operation, Parameter } from './api-document.js';
import { SchemaValues } from './schema-values.js';

export type HeaderField = readonly [name: string, value: string];

export interface ApiRequest {
  readonly operation: Operation;
  readonly target: string;
  readonly headers: readonly HeaderField[];
  readonly body: string | undefined;
}

/** Only values from a `Link` header are valid. */
export const CURSOR = 'cursor';
const PATH_PARAMETER = /\{([^}]+)\}/g;

/** Generates the parts of requests that conform to the document. */
export class ValidRequests {
  readonly values: SchemaValues;

  /** @param ids identifiers that exist, as JSON texts */
  constructor(api: ApiDocument, ids: readonly string[]) {
    this.values = new SchemaValues(api, ids);
  }

  /** Generates requests with some optional query parameters, or with the given ones. */
  requests(operation: Operation, optional?: readonly string[]): Arbitrary<ApiRequest> {
    return fc
      .tuple(this.path(operation), this.query(operation, optional), this.headers(operation), this.body(operation))
      .map(([path, query, headers, body]) => ({ operation, target: path + query, headers, body }));
  }

  path({ path, parameters }: Operation): Arbitrary<string> {
    const values = Object.fromEntries(inPlace(parameters, 'path').map(({ name, schema }) => [name, this.encoded(schema)]));
    return fc.record(values).map((texts) => path.replace(PATH_PARAMETER, (_braces, name: string) => texts[name] ?? ''));
  }

  /** Generates the part of the target from `?` on. */
  query({ parameters }: Operation, optional?: readonly string[]): Arbitrary<string> {
    const pairs = inPlace(parameters, 'query')
      .filter(({ name }) => name !== CURSOR && optional?.includes(name) !== false)
      .map(({ name, schema, required = false }) => {
        const pair = this.encoded(schema).map((value) => `${name}=${value}`);
        return required || optional ? pair : fc.option(pair, { nil: '', freq: 2 });
      });
    return fc
      .tuple(...pairs)
      .map((texts) => texts.filter((text) => text !== ''))
      .map((texts) => (texts.length > 0 ? `?${texts.join('&')}` : ''));
  }

  /** Generates the required headers of an operation, and sometimes its Idempotency-Key. */
  headers({ parameters, body }: Operation): Arbitrary<readonly HeaderField[]> {
    const fields = inPlace(parameters, 'header').flatMap(({ name, schema, required = false }) => {
      // Any representation matches `*`.
      if (required) return [(name === 'If-Match' ? fc.constant('*') : this.values.text(schema)).map((value): HeaderField => [name, value])];
      return name === 'Idempotency-Key' ? [fc.option(this.values.text(schema).map((value): HeaderField => [name, value]))] : [];
    });
    const mediaType = body ? [fc.constantFrom(...body.mediaTypes).map((type): HeaderField => ['Content-Type', type])] : [];
    return fc.tuple(...fields, ...mediaType).map((all) => all.filter((field) => field !== null));
  }

  body({ body }: Operation): Arbitrary<string | undefined> {
    return body ? this.values.json(body.schema) : fc.constant(undefined);
  }

  private encoded(schema: Parameter['schema']): Arbitrary<string> {
    return this.values.text(schema).map(encodeURIComponent);
  }
}

/** Returns the names of an operation's optional query parameters that values can be generated for. */
export function optionalNames({ parameters }: Operation): string[] {
  return inPlace(parameters, 'query').flatMap(({ name, required = false }) => (required || name === CURSOR ? [] : name));
}

function inPlace(parameters: readonly Parameter[], place: Parameter['in']): Parameter[] {
  return parameters.filter((parameter) => parameter.in === place);
}
