/** A JSON schema of the OpenAPI document, as far as values are generated from it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly allOf?: readonly SchemaOrReference[];
  readonly anyOf?: readonly SchemaOrReference[];
  readonly oneOf?: readonly SchemaOrReference[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: SchemaOrReference;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, SchemaOrReference>>;
  readonly required?: readonly string[];
}

export interface Reference {
  readonly $ref: string;
}

export type SchemaOrReference = Schema | Reference;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: SchemaOrReference;
}

export interface Header {
  readonly required?: boolean;
}

export interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, { readonly schema: object; readonly examples?: Readonly<Record<string, unknown>> }>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: SchemaOrReference }>> };
  readonly responses: Readonly<Record<string, DocumentedResponse | Reference>>;
  readonly 'x-required-scopes'?: readonly string[];
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

export interface Operation {
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  /** With the version: `/v1/pets/{petId}`. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly mediaTypes: readonly string[]; readonly schema: SchemaOrReference } | undefined;
  readonly responses: ReadonlyMap<number, DocumentedResponse>;
  readonly scopes: readonly string[];
}

const VERSION_PREFIX = '/v1';

/** The OpenAPI document of a service: the operations of all its contexts. */
export class ApiDocument {
  readonly operations: readonly Operation[];

  constructor(readonly content: OpenApi) {
    this.operations = Object.entries(content.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => this.operationOf(method.toUpperCase(), VERSION_PREFIX + path, operation)),
    );
  }

  /** Reads the document that the service itself publishes. */
  static async of(serviceUrl: string): Promise<ApiDocument> {
    return new ApiDocument((await (await fetch(`${serviceUrl}/openapi.json`)).json()) as OpenApi);
  }

  /** The scopes of all operations, or of those with this method. */
  scopes(method?: string): string[] {
    const operations = this.operations.filter((operation) => method === undefined || operation.method === method);
    return [...new Set(operations.flatMap(({ scopes }) => scopes))];
  }

  /** Returns the operation that a request matches. Only the spelling of the document matches, so that the operation is certain. */
  find(method: string, target: string): Operation | undefined {
    return this.matching(target).find((operation) => operation.method === method);
  }

  /** Returns the operations of the path that a request target matches. A path without parameters precedes those with some. */
  matching(target: string): readonly Operation[] {
    const matching = this.operations.filter(({ path }) => patternOf(path).test(target));
    const [first] = matching.toSorted((one, other) => one.path.split('{').length - other.path.split('{').length);
    return matching.filter(({ path }) => path === first?.path);
  }

  resolve<Value extends object>(value: Value | Reference): Value {
    if (!('$ref' in value)) return value;
    const steps = value.$ref.split('/').slice(1);
    return steps.reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], this.content) as Value;
  }

  private operationOf(method: string, path: string, operation: DocumentedOperation): Operation {
    const content = Object.entries(operation.requestBody?.content ?? {});
    return {
      id: operation.operationId,
      method,
      path,
      parameters: (operation.parameters ?? []).map((parameter) => this.resolve<Parameter>(parameter)),
      body: content[0] && { mediaTypes: content.map(([mediaType]) => mediaType), schema: content[0][1].schema },
      responses: new Map(
        Object.entries(operation.responses).map(([status, response]) => [Number(status), this.resolve<DocumentedResponse>(response)]),
      ),
      scopes: operation['x-required-scopes'] ?? [],
    };
  }
}

const patterns = new Map<string, RegExp>();

function patternOf(path: string): RegExp {
  const known = patterns.get(path) ?? new RegExp(`^${path.replace(/\{[^}]+\}/g, '[\\w.~-]+')}(?:\\?.*)?$`, 's');
  patterns.set(path, known);
  return known;
}
