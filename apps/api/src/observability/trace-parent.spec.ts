import { describe, expect, it } from '@jest/globals';
import { parseTraceParent } from './trace-parent.js';

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
