declare const brand: unique symbol;

/** A permission of a key, `<resource>:<action>`. Each context defines its scopes. */
export type Scope = string & { readonly [brand]: 'Scope' };

export const SCOPES_RULE = 'must be one or more different <resource>:<action> pairs of lower-case letters and hyphens';

const SCOPE = /^[a-z][a-z-]*:[a-z][a-z-]*$/;
const MAX_LENGTH = 100;

export function isScope(value: string): value is Scope {
  return value.length <= MAX_LENGTH && SCOPE.test(value);
}

export function areScopes(values: readonly string[]): values is readonly Scope[] {
  return values.length > 0 && values.every(isScope) && new Set(values).size === values.length;
}
