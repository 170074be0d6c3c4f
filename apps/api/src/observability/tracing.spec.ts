import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { fastify, type FastifyInstance } from 'fastify';
import { traceRequests } from './tracing.js';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('spec');
beforeEach(() => exporter.reset());
afterAll(() => provider.shutdown());

let server: FastifyInstance;

beforeAll(async () => {
  server = fastify({ trustProxy: true });
  server.decorateRequest('traceId', undefined);
  traceRequests(server, tracer);
  server.get('/status/:status', ({ params, traceId }, reply) => reply.code(Number((params as { status: string }).status)).send(traceId));
  await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => server.close());

async function send(path: string, init?: RequestInit): Promise<string> {
  const { port } = server.server.address() as AddressInfo;
  return (await fetch(`http://127.0.0.1:${String(port)}${path}`, init)).text();
}

/** The span of the last request ends after its response. */
const endedSpan = () =>
  waitFor(() => {
    const [span, ...others] = exporter.getFinishedSpans();
    assert(span);
    expect(others).toEqual([]);
    return span;
  });

describe('the span of a request', () => {
  it.each([
    [200, SpanStatusCode.UNSET, undefined],
    [499, SpanStatusCode.UNSET, undefined],
    [500, SpanStatusCode.ERROR, '500'],
    [503, SpanStatusCode.ERROR, '503'],
  ])('with status %i has the status code %i and the error %s', async (status, code, error) => {
    const traceId = await send(`/status/${String(status)}?secret`);
    const span = await endedSpan();
    expect(span).toMatchObject({ name: 'GET /status/:status', kind: SpanKind.SERVER, status: { code } });
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/status/:status',
      'http.response.status_code': status,
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      ...(error !== undefined && { 'error.type': error }),
    });
    expect(traceId).toBe(span.spanContext().traceId);
  });

  it('has the parent and the trace of the caller, and the protocol that a trusted proxy forwards', async () => {
    const headers = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01`, 'x-forwarded-proto': 'https' };
    await send('/none', { method: 'POST', headers });
    const span = await endedSpan();
    expect(span.spanContext().traceId).toBe(TRACE_ID);
    expect(span.parentSpanContext).toMatchObject({ spanId: SPAN_ID, isRemote: true });
    expect([span.name, span.attributes['url.scheme'], span.attributes['http.route']]).toEqual(['POST', 'https', undefined]);
  });
});
