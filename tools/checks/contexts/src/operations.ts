interface DocumentedOperation {
  readonly operationId: string;
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
  readonly 'x-required-scopes'?: readonly string[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Without the version. */
  readonly path: string;
  readonly scopes: readonly string[];
  readonly isPublic: boolean;
  readonly bodyTypes: readonly string[];
}

export function operationsOf(document: string): Operation[] {
  return Object.entries((JSON.parse(document) as OpenApi).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { operationId: id, security, requestBody, 'x-required-scopes': scopes = [] }]) => ({
      id,
      method: method.toUpperCase(),
      path,
      scopes,
      isPublic: security?.length === 0,
      bodyTypes: Object.keys(requestBody?.content ?? {}),
    })),
  );
}
