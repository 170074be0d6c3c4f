interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string; readonly 'x-required-scopes'?: readonly string[] }>>>
  >;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Without the version. */
  readonly path: string;
  /** Empty if the operation is public. */
  readonly scopes: readonly string[];
}

/** Returns the operations of an OpenAPI document. */
export function operationsOf(document: string): Operation[] {
  return Object.entries((JSON.parse(document) as OpenApi).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId: id, 'x-required-scopes': scopes = [] }]) => ({
      id,
      method: method.toUpperCase(),
      path,
      scopes,
    })),
  );
}
