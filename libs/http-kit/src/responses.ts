import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';

/** The documented members of a class, with the class of the nested objects. */
type Members = ReadonlyMap<string, Type<object> | undefined>;

const documented = new Map<Type<object>, Members>();

/**
 * Returns the members of the value that the class documents with `@ApiProperty`, in the order of the value: what is not documented is not sent.
 * Undocumented members of nested objects are not sent, either.
 */
export function toDto<Dto extends object>(type: Type<Dto>, value: Dto): Dto {
  const members = membersOf(type);
  if (members.size === 0) throw new Error(`${type.name} documents no members with @ApiProperty.`);
  const dto: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    if (!members.has(name)) continue;
    const nested = members.get(name);
    const member = value[name as keyof Dto];
    dto[name] = nested ? withNested(nested, member) : member;
  }
  return dto as Dto;
}

export function documents(type: Type<object>, names: readonly string[]): boolean {
  const members = membersOf(type);
  return names.every((name) => members.has(name));
}

function withNested(type: Type<object>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withNested(type, item));
  return typeof value === 'object' && value !== null ? toDto(type, value) : value;
}

function membersOf(type: Type<object>): Members {
  let members = documented.get(type);
  if (!members) {
    members = new Map(namesOf(type).map((name) => [name, nestedTypeOf(type, name)]));
    documented.set(type, members);
  }
  return members;
}

/** Swagger stores the names with a colon. */
function namesOf({ prototype }: Type<object>): string[] {
  const names = (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES_ARRAY, prototype as object) ?? []) as string[];
  return names.map((name) => name.slice(1));
}

function nestedTypeOf({ prototype }: Type<object>, name: string): Type<object> | undefined {
  const { type } = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype as object, name) as { readonly type?: unknown };
  // Only a class has a prototype, and not the function that returns it, such as `() => LineDto`.
  const given = typeof type === 'function' && type.prototype === undefined ? (type as () => unknown)() : type;
  const [found] = [given].flat();
  return typeof found === 'function' && namesOf(found as Type<object>).length > 0 ? (found as Type<object>) : undefined;
}
