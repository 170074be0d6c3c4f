import type { INestApplicationContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Tracer } from '@opentelemetry/api';
import { runInSpan } from './run-in-span.js';

type Execute = (...args: readonly unknown[]) => unknown;

interface UseCase {
  execute: Execute;
}

/** Creates an INTERNAL span, named after the class, for each call of `execute` of a provider. */
export function traceUseCases(app: INestApplicationContext, tracer: Tracer): void {
  const providers = [...app.get(ModulesContainer).values()].flatMap((module) => [...module.providers.values()]);
  const useCases = new Set(providers.map(({ instance }): unknown => instance).filter(isUseCase));
  for (const useCase of useCases) {
    const { name } = useCase.constructor;
    const execute = useCase.execute.bind(useCase);
    const options = { attributes: { 'code.function.name': `${name}.execute` } };
    useCase.execute = (...args) => runInSpan(tracer, name, options, () => execute(...args));
  }
}

function isUseCase(instance: unknown): instance is UseCase {
  return typeof instance === 'object' && instance !== null && typeof (instance as Partial<UseCase>).execute === 'function';
}
