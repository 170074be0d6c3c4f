import { DomainError, type ErrorDefinition } from '@animal-store/kernel';

/** Domain errors by the name of the constraint that a row violates. */
export type ConstraintErrors = Readonly<Record<string, ErrorDefinition>>;

/** Returns a handler for `catch` that throws the domain error of a violated constraint, and any other error unchanged. */
export function throwConstraintErrors(errors: ConstraintErrors): (error: unknown) => never {
  return (error) => {
    const { constraint } = error as { constraint?: unknown };
    const definition = typeof constraint === 'string' && Object.hasOwn(errors, constraint) ? errors[constraint] : undefined;
    throw definition ? new DomainError(definition, definition.message, { cause: error }) : error;
  };
}
