import type { Abstract, FactoryProvider, Type } from '@nestjs/common';

/** Builds the URLs in responses: below the configured base URL if there is one, otherwise relative to the origin. */
export class PublicUrl {
  /** @param docs The URL of the guides. */
  constructor(
    private readonly base = '',
    readonly docs?: string,
  ) {}

  /** @param path starts with a slash; for an operation, includes the version prefix: `/v1/pets` */
  of(path: string): string {
    return this.base + path;
  }
}

/** Returns the provider of a use case, which is a plain class. Nest injects the ports of its constructor. */
export function provideUseCase<UseCase, Ports extends unknown[]>(
  type: new (...ports: Ports) => UseCase,
  ...ports: { [Index in keyof Ports]: Abstract<Ports[Index]> | Type<Ports[Index]> }
): FactoryProvider<UseCase> {
  return { provide: type, inject: ports, useFactory: (...injected: unknown[]) => new type(...(injected as Ports)) };
}
