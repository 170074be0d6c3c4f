import { generateApiKeySecret, type KeyEnvironment } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { identifyRequests, parseTraceParent, requestIdOf } from './identify-requests.js';

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

describe('identifyRequests', () => {
  it('returns the request id, forbids to guess content types, and reads the trace id of the caller', async () => {
    const server = fastify({ genReqId: requestIdOf });
    identifyRequests(server);
    server.get('/', ({ traceId }) => ({ traceId }));
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const response = await server.inject({ url: '/', headers: { traceparent, 'x-request-id': 'r-1' } });
    expect(response.headers).toMatchObject({ 'x-request-id': 'r-1', 'x-content-type-options': 'nosniff' });
    expect(response.json()).toEqual({ traceId });
    for (const invalid of [undefined, traceparent.toUpperCase()]) {
      const { headers, body } = await server.inject({ url: '/', headers: invalid === undefined ? {} : { traceparent: invalid } });
      expect([headers['x-request-id'], body]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), '{}']);
    }
  });
});

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const ids = { traceId: TRACE_ID, spanId: SPAN_ID };

describe('parseTraceParent', () => {
  it('parses the ids and the sampled flag', () => {
    expect(parseTraceParent(`00-${TRACE_ID}-${SPAN_ID}-01`)).toEqual({ ...ids, sampled: true });
    expect(parseTraceParent(`00-${TRACE_ID}-${SPAN_ID}-00`)).toEqual({ ...ids, sampled: false });
    expect(parseTraceParent(`00-${TRACE_ID}-${SPAN_ID}-03`)).toEqual({ ...ids, sampled: true });
    expect(parseTraceParent(`00-${TRACE_ID}-${SPAN_ID}-02`)).toEqual({ ...ids, sampled: false });
  });

  it('parses later versions, without their additions', () => {
    expect(parseTraceParent(`cc-${TRACE_ID}-${SPAN_ID}-01-what-comes-later`)).toEqual({ ...ids, sampled: true });
    expect(parseTraceParent(`cc-${TRACE_ID}-${SPAN_ID}-01`)).toEqual({ ...ids, sampled: true });
  });

  it.each([
    undefined,
    '',
    `00-${TRACE_ID}-${SPAN_ID}`,
    `00-${TRACE_ID}-${SPAN_ID}-01-more`,
    `00-${TRACE_ID}-${SPAN_ID}-1`,
    `ff-${TRACE_ID}-${SPAN_ID}-01`,
    `cc-${TRACE_ID}-${SPAN_ID}-01more`,
    `00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`,
    `00-${'0'.repeat(32)}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${'0'.repeat(16)}-01`,
    ` 00-${TRACE_ID}-${SPAN_ID}-01`,
    `00-${TRACE_ID}-${SPAN_ID}-01\n`,
    `00-${TRACE_ID}-${SPAN_ID}-01, 00-${TRACE_ID}-${SPAN_ID}-01`,
    [`00-${TRACE_ID}-${SPAN_ID}-01`],
  ])('rejects %j', (field) => {
    expect(parseTraceParent(field)).toBeUndefined();
  });
});
