import { MemberRule } from '@animal-store/http-contract';
import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

export interface DeclaredMember {
  /** Converts the received value before validation. */
  readonly parse: ((value: unknown) => unknown) | undefined;
  /** The rules, if all of them come from `@animal-store/http-contract`. */
  readonly rules: readonly MemberRule[] | undefined;
}

const known = new Map<Type, ReadonlyMap<string, DeclaredMember>>();

/** Returns the members of a class that have a validation rule, including inherited members. */
export function declaredMembers(dto: Type): ReadonlyMap<string, DeclaredMember> {
  let members = known.get(dto);
  if (!members) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    const byName = Map.groupBy(metadata, ({ propertyName }) => propertyName);
    members = new Map([...byName].map(([name, declared]) => [name, declaredMember(dto, name, declared)]));
    known.set(dto, members);
  }
  return members;
}

function declaredMember(dto: Type, name: string, metadata: readonly { context?: unknown }[]): DeclaredMember {
  const rules = metadata.map(({ context }) => context).filter((context) => context instanceof MemberRule);
  const isNumber = Reflect.getMetadata('design:type', dto.prototype as object, name) === Number;
  return {
    parse: rules.find(({ parse }) => parse)?.parse ?? (isNumber ? toNumber : undefined),
    rules: rules.length === metadata.length ? rules : undefined,
  };
}

/** Converts a bigint to a number, unless that would change the value. JSON integers are parsed as bigints. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
