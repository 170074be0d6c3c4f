import type { Abstract, FactoryProvider, Type } from '@nestjs/common';

/** Returns the provider of a use case, which is a plain class. Nest injects the ports of its constructor. */
export function provideUseCase<UseCase, Ports extends unknown[]>(
  type: new (...ports: Ports) => UseCase,
  ...ports: { [Index in keyof Ports]: Abstract<Ports[Index]> | Type<Ports[Index]> }
): FactoryProvider<UseCase> {
  return { provide: type, inject: ports, useFactory: (...injected: unknown[]) => new type(...(injected as Ports)) };
}
