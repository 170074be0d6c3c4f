import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createUseCaseDecorator } from './trace-use-case.js';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const decorate = createUseCaseDecorator(provider.getTracer('spec'));

beforeEach(() => exporter.reset());
afterAll(() => provider.shutdown());

const names = () => exporter.getFinishedSpans().map(({ name }) => name);

class CountPets {
  readonly #counts: number[] = [];
  isOpen = false;

  onModuleInit(): void {
    this.isOpen = true;
  }

  execute(count: number): Promise<readonly [number, number, boolean]> {
    return Promise.resolve([count, this.#counts.push(count), this.isOpen]);
  }
}

describe('the decorator of use cases', () => {
  it('creates a span for each call of execute, with the name of the class', async () => {
    const useCase = decorate(new CountPets()) as CountPets;
    useCase.onModuleInit();
    expect(useCase).toBeInstanceOf(CountPets);
    expect(await useCase.execute(7)).toEqual([7, 1, true]);
    expect(await useCase.execute(8)).toEqual([8, 2, true]);
    expect(names()).toEqual(['CountPets', 'CountPets']);
    expect(exporter.getFinishedSpans()[0]?.attributes).toEqual({ 'code.function.name': 'CountPets.execute' });
  });

  it('decorates a use case once, and not the use case that it was created from', async () => {
    const useCase = new CountPets();
    const decorated = decorate(useCase);
    expect(decorate(decorated)).toBe(decorated);
    await useCase.execute(7);
    expect(names()).toEqual([]);
  });

  it.each([undefined, null, 7, { execute: true }, () => undefined])('returns %p unchanged', (instance) => {
    expect(decorate(instance)).toBe(instance);
  });
});
