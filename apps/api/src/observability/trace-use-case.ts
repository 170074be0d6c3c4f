import type { Tracer } from '@opentelemetry/api';
import { runInSpan } from './run-in-span.js';

interface UseCase {
  execute: (...args: readonly unknown[]) => unknown;
}

/**
 * Returns the `instanceDecorator` of Nest that creates an INTERNAL span, named after the class, for each call of `execute` of a provider.
 * It returns other instances unchanged.
 */
export function createUseCaseDecorator(tracer: Tracer): (instance: unknown) => unknown {
  const decorated = new WeakSet<object>();
  return (instance) => {
    // Nest also decorates the instances that an alias or a factory returns.
    if (!isUseCase(instance) || decorated.has(instance)) return instance;
    const traced = traceUseCase(instance, tracer);
    decorated.add(traced);
    return traced;
  };
}

function traceUseCase(useCase: UseCase, tracer: Tracer): UseCase {
  const { name } = useCase.constructor;
  const options = { attributes: { 'code.function.name': `${name}.execute` } };
  const execute: UseCase['execute'] = (...args) => runInSpan(tracer, name, options, () => useCase.execute(...args));
  return new Proxy(useCase, {
    get: (target, property): unknown => (property === 'execute' ? execute : Reflect.get(target, property)),
  });
}

function isUseCase(instance: unknown): instance is UseCase {
  return typeof instance === 'object' && instance !== null && typeof (instance as Partial<UseCase>).execute === 'function';
}
