import { isPromise } from 'node:util/types';
import { DomainRule } from '@animal-store/http-kit';
import type { Type } from '@nestjs/common';
import { TransformationType, type TypeMetadata } from 'class-transformer';
// Not public, but its version is pinned, and `@nestjs/mapped-types` reads it too.
import { defaultMetadataStorage as transformers } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, IS_ENUM, type MetadataStorage, ValidationTypes } from 'class-validator';
import type { Findings } from './compiled-dto.js';

const { PLAIN_TO_CLASS } = TransformationType;

export type Decorator = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
export type Rule = (value: unknown, object: object) => boolean;
/** Converts a received value. `at` is its path. */
export type Conversion = (value: unknown, source: object, found: Findings, at: string) => unknown;

/** Returns the decorators by the names of their members. @throws Error if one of class-transformer is not supported */
export function decoratorsOf(dto: Type): ReadonlyMap<string, readonly Decorator[]> {
  const decorated = [...transformers.getExposedProperties(dto, PLAIN_TO_CLASS), ...transformers.getExcludedProperties(dto, PLAIN_TO_CLASS)];
  if (transformers.getStrategy(dto) !== 'none' || decorated.length > 0)
    throw new Error(`${dto.name}: @Expose and @Exclude are not supported.`);
  return Map.groupBy(getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false), ({ propertyName }) => propertyName);
}

export function isNested(decorators: readonly Decorator[]): boolean {
  return decorators.some(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
}

/** Returns the conditions of `@ValidateIf` and the like. If one is not met, the rules do not apply. */
export function conditionsOf(decorators: readonly Decorator[]): Rule[] {
  return ofType(decorators, ValidationTypes.CONDITIONAL_VALIDATION).map(({ constraints }) => {
    const [isMet] = constraints as [(object: object, value: unknown) => boolean];
    return (value, object) => isMet(object, value);
  });
}

/** @throws Error if a rule is asynchronous */
export function rulesOf(dto: Type, decorators: readonly Decorator[]): Rule[] {
  const rules = [...ofType(decorators, ValidationTypes.IS_DEFINED), ...ofType(decorators, ValidationTypes.CUSTOM_VALIDATION)];
  return rules.flatMap(({ constraintCls, constraints, context, each, propertyName, validateIf }) => {
    const asynchronous = () => new Error(`The rule of ${dto.name}.${propertyName} is asynchronous; only synchronous rules are supported.`);
    return getMetadataStorage()
      .getTargetValidatorConstraints(constraintCls)
      .map(({ name, async, instance }): Rule => {
        if (async) throw asynchronous();
        if ((context as unknown) instanceof DomainRule) return (context as DomainRule).isValid;
        // Each decorator has a class of its own, so a call through the instance would be megamorphic.
        const validate = instance.validate.bind(instance);
        const isValid: Rule = (value, object) => {
          const result: unknown = validate(value, { targetName: dto.name, property: propertyName, object, value, constraints });
          if (isPromise(result)) throw asynchronous();
          return Boolean(result);
        };
        const accepts = name === IS_ENUM ? isOneOf((constraints as [object])[0]) : isValid;
        const isMet: Rule = each
          ? (value, object) => (Array.isArray(value) ? value : [value]).every((item) => accepts(item, object))
          : accepts;
        return validateIf ? (value, object) => !validateIf(object, value) || isMet(value, object) : isMet;
      });
  });
}

/** `@IsEnum` would list the values of the enumeration on each call. */
function isOneOf(enumeration: object): Rule {
  const values = new Set<unknown>(Object.values(enumeration));
  return (value) => values.has(value);
}

function ofType(decorators: readonly Decorator[], wanted: string): Decorator[] {
  return decorators.filter(({ type }) => type === wanted);
}

/** The classes without rules that `@Type` may have. */
const PLAIN_TYPES = new Map<unknown, (value: unknown) => unknown>([
  [Date, (value) => new Date(value as string)],
  [Number, (value) => (typeof value === 'bigint' ? toNumber(value) : Number(value))],
  [String, String],
  [Boolean, Boolean],
]);

/** Returns the class of `@Type` unless it is a plain one, such as Date. */
export function nestedTypeOf(dto: Type, name: string): Type | undefined {
  const type = typeOf(dto, name);
  return PLAIN_TYPES.has(type) ? undefined : type;
}

/** Returns the conversions of a member: to the class of `@Type`, to the type `number`, of each `@Transform`, and of its rule. */
export function conversionsOf(dto: Type, name: string, decorators: readonly Decorator[], create: Conversion | undefined): Conversion[] {
  const toType = isNumber(dto, name) ? toNumber : undefined;
  const convert = create ?? PLAIN_TYPES.get(typeOf(dto, name));
  const transforms = transformers.findTransformMetadatas(dto, name, PLAIN_TO_CLASS).map(({ transformFn }): Conversion => {
    return (value, obj) => transformFn({ value, key: name, obj, type: PLAIN_TO_CLASS, options: {} }) as unknown;
  });
  const rules = decorators.map(({ context }): unknown => context).filter((rule) => rule instanceof DomainRule);
  const ofRule = rules.find((rule) => rule.convert)?.convert;
  return [convert && ofItems(convert), toType, ...transforms, ofRule ?? toType].filter((each) => each !== undefined);
}

export function isNumber(dto: Type, name: string): boolean {
  return Reflect.getMetadata('design:type', dto.prototype as object, name) === Number;
}

function typeOf(dto: Type, name: string): Type | undefined {
  const metadata = transformers.findTypeMetadata(dto, name) as Partial<TypeMetadata> | undefined;
  if (!metadata) return undefined;
  const { typeFunction, options } = metadata;
  const reflectedType: unknown = metadata.reflectedType;
  // Without a function, the type is that of TypeScript. A function with a parameter depends on the received object.
  const isSimple = typeFunction?.length === 0 && !options?.discriminator && reflectedType !== Set && reflectedType !== Map;
  if (!isSimple) throw new Error(`${dto.name}.${name}: only @Type(() => Class) for a value or an array is supported.`);
  return typeFunction() as Type;
}

function ofItems(convert: Conversion): Conversion {
  return function convertItems(value, source, found, at): unknown {
    if (Array.isArray(value)) return value.map((item, index) => convertItems(item, source, found, `${at}.${String(index)}`));
    return value === null ? null : convert(value, source, found, at);
  };
}

/** Converts a bigint to a number if it stays exact. JSON integers are parsed as bigints. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
