/** The part of class-transformer's metadata that validation reads. The package does not publish it. */
declare module 'class-transformer/cjs/storage.js' {
  import type { Type } from '@nestjs/common';
  import type { TransformationType } from 'class-transformer';

  export const defaultMetadataStorage: {
    findTypeMetadata(dto: Type, name: string): TypeMetadata | undefined;
    findTransformMetadatas(dto: Type, name: string, transformation: TransformationType): readonly unknown[];
    getStrategy(dto: Type): 'excludeAll' | 'exposeAll' | 'none';
    getExposedProperties(dto: Type, transformation: TransformationType): readonly string[];
    getExcludedProperties(dto: Type, transformation: TransformationType): readonly string[];
  };

  interface TypeMetadata {
    /** The argument of `@Type`. */
    readonly typeFunction: ((options?: unknown) => unknown) | undefined;
    /** The type of the member in TypeScript. */
    readonly reflectedType: unknown;
    readonly options: { readonly discriminator?: object };
  }
}
