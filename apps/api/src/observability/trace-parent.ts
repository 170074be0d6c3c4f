/** The caller's span from its `traceparent` header (W3C Trace Context, level 1). */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const TRACE_PARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Parses a `traceparent` field. Returns undefined if it is invalid or repeated. Ignores additions of later versions. */
export function parseTraceParent(field: string | readonly string[] | undefined): TraceParent | undefined {
  if (typeof field !== 'string') return undefined;
  const [, version, traceId, spanId, flags = '', more] = TRACE_PARENT.exec(field) ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}
