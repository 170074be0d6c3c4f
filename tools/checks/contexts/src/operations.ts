interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly operationId: string; readonly security?: readonly object[]; readonly 'x-required-scopes'?: readonly string[] }
        >
      >
    >
  >;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Without the version. */
  readonly path: string;
  readonly scopes: readonly string[];
  readonly isPublic: boolean;
}

/** Returns the operations of an OpenAPI document. */
export function operationsOf(document: string): Operation[] {
  return Object.entries((JSON.parse(document) as OpenApi).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId: id, security, 'x-required-scopes': scopes = [] }]) => ({
      id,
      method: method.toUpperCase(),
      path,
      scopes,
      isPublic: security?.length === 0,
    })),
  );
}
