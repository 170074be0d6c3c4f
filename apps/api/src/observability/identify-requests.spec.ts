import { generateApiKeySecret, type KeyEnvironment } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { identifyRequests, requestIdOf } from './request-hooks.js';

const idFor = (given: string | undefined) => requestIdOf({ headers: given === undefined ? {} : { 'x-request-id': given } });

describe('the request id', () => {
  it.each(['a', 'a'.repeat(128), '!~#-_7'])('is that of the caller if it is valid: %s', (given) => expect(idFor(given)).toBe(given));

  it('is generated if that of the caller contains an API key', () => {
    const given = `a-${generateApiKeySecret('test' as KeyEnvironment)}`;
    expect(idFor(given)).not.toBe(given);
  });

  it.each([undefined, '', 'a'.repeat(129), 'a b', 'ä', 'a\tb', 'a\r\nX: y'])('is generated for %j', (given) => {
    expect(idFor(given)).toMatch(/^[0-9a-f-]{36}$/);
    expect(idFor(given)).not.toBe(idFor(given));
  });
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

describe('identifyRequests', () => {
  const send = async (headers: Record<string, string | string[]>) => {
    const server = fastify({ genReqId: requestIdOf });
    identifyRequests(server);
    server.get('/', ({ traceId }) => ({ traceId }));
    const response = await server.inject({ url: '/', headers });
    return { headers: response.headers, traceId: response.json<{ traceId?: string }>().traceId };
  };

  it('returns the request id, and forbids to guess content types', async () => {
    expect((await send({ 'x-request-id': 'r-1' })).headers).toMatchObject({ 'x-request-id': 'r-1', 'x-content-type-options': 'nosniff' });
    expect((await send({})).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ...[`00-${TRACE_ID}-${SPAN_ID}-01`, `00-${TRACE_ID}-${SPAN_ID}-00`],
    ...[`cc-${TRACE_ID}-${SPAN_ID}-01-what-comes-later`, `cc-${TRACE_ID}-${SPAN_ID}-01`],
  ])('reads the trace id of the caller: %s', async (traceparent) => {
    expect((await send({ traceparent })).traceId).toBe(TRACE_ID);
  });

  it.each([
    '',
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID}-${SPAN_ID}-1`,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `cc-${TRACE_ID}-${SPAN_ID}-01more`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
  ])('ignores the invalid traceparent %j', async (traceparent) => {
    expect((await send({ traceparent })).traceId).toBeUndefined();
  });
});
