import { DomainError } from '@animal-store/kernel';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { runInSpan } from './run-in-span.js';

const exporter = new InMemorySpanExporter();
const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('spec');
beforeEach(() => exporter.reset());

function onlySpan(): { type: unknown; code: SpanStatusCode } {
  const [span, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  return { type: span?.attributes['error.type'], code: span?.status.code ?? SpanStatusCode.UNSET };
}

describe('runInSpan', () => {
  it('returns the result of the work, and ends when the work ends', async () => {
    expect(runInSpan(tracer, 'work', {}, () => 7)).toBe(7);
    const promise = Promise.resolve(8);
    expect(runInSpan(tracer, 'work', {}, () => promise)).toBe(promise);
    await promise;
    expect(exporter.getFinishedSpans()).toHaveLength(2);
  });

  it.each([
    [new DomainError({ code: 'pet_not_found', kind: 'not_found', message: '' }), { type: 'pet_not_found', code: SpanStatusCode.UNSET }],
    [new TypeError('secret'), { type: 'TypeError', code: SpanStatusCode.ERROR }],
    [Object.assign(new Error('secret'), { code: '23505' }), { type: '23505', code: SpanStatusCode.ERROR }],
    [Object.setPrototypeOf(new Error('secret'), null), { type: 'Error', code: SpanStatusCode.ERROR }],
    ['secret', { type: 'string', code: SpanStatusCode.ERROR }],
  ])('records the type of %o, thrown or rejected, but not its message', async (error, attributes) => {
    const fail = () => {
      throw error as Error;
    };
    expect(() => runInSpan(tracer, 'work', {}, fail)).toThrow();
    expect(onlySpan()).toEqual(attributes);
    exporter.reset();
    await expect(runInSpan(tracer, 'work', {}, async () => fail())).rejects.toBe(error);
    expect(onlySpan()).toEqual(attributes);
  });

  it('records a thrown value that cannot be inspected', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    await runInSpan(tracer, 'work', {}, () => Promise.reject(proxy as Error)).catch(() => undefined);
    expect(onlySpan()).toEqual({ type: 'object', code: SpanStatusCode.ERROR });
  });
});
