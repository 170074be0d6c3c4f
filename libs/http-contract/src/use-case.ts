import type { Abstract, FactoryProvider, Type } from '@nestjs/common';

/** Provides a use case, a plain class, with the ports that its constructor asks for. */
export function useCase<UseCase, Ports extends unknown[]>(
  type: new (...ports: Ports) => UseCase,
  ...ports: { [Index in keyof Ports]: Abstract<Ports[Index]> | Type<Ports[Index]> }
): FactoryProvider<UseCase> {
  return { provide: type, inject: ports, useFactory: (...injected: unknown[]) => new type(...(injected as Ports)) };
}
