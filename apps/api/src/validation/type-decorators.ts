import type { Type } from '@nestjs/common';
import { TransformationType } from 'class-transformer';
// Not public, but its version is pinned, and `@nestjs/mapped-types` reads it too.
import { defaultMetadataStorage as storage } from 'class-transformer/cjs/storage.js';

const { PLAIN_TO_CLASS } = TransformationType;

/** Returns the class of `@Type(() => Line)`. */
export function typeOf(dto: Type, name: string): Type | undefined {
  return storage.findTypeMetadata(dto, name)?.typeFunction?.() as Type | undefined;
}

/** Returns whether a class has decorators of class-transformer other than `@Type(() => Line)`, which is compiled. */
export function hasUncompiledDecorators(dto: Type, names: readonly string[]): boolean {
  const isExposedOrExcluded =
    storage.getStrategy(dto) !== 'none' ||
    storage.getExposedProperties(dto, PLAIN_TO_CLASS).length > 0 ||
    storage.getExcludedProperties(dto, PLAIN_TO_CLASS).length > 0;
  return isExposedOrExcluded || names.some((name) => isTransformed(dto, name));
}

function isTransformed(dto: Type, name: string): boolean {
  if (storage.findTransformMetadatas(dto, name, PLAIN_TO_CLASS).length > 0) return true;
  const metadata = storage.findTypeMetadata(dto, name);
  if (!metadata) return false;
  const { typeFunction, reflectedType, options } = metadata;
  // Without a function, the type is that of TypeScript. A function with a parameter depends on the received object.
  if (!typeFunction || typeFunction.length > 0 || options.discriminator) return true;
  return reflectedType === Set || reflectedType === Map || typeFunction() === Buffer;
}
