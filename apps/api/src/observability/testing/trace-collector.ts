import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SpanKind = 'INTERNAL' | 'SERVER' | 'CLIENT';

/** An exported span, with attributes as objects instead of OTLP's lists. */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly isError: boolean;
  readonly resource: Readonly<Record<string, string | number | undefined>>;
}

export interface TraceCollector {
  readonly url: string;
  spans(): ExportedSpan[];
  /** Forgets everything that was sent. */
  clear(): void;
  /** Everything that was sent, including headers. */
  text(): string;
  close(): Promise<void>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Pick<ExportedSpan, 'traceId' | 'spanId' | 'name' | 'parentSpanId'> & {
        readonly kind: number;
        readonly attributes: readonly Attribute[];
        readonly status: { readonly code?: number };
      })[];
    }[];
  }[];
}

const KINDS: Readonly<Record<number, SpanKind>> = { 1: 'INTERNAL', 2: 'SERVER', 3: 'CLIENT' };
const STATUS_ERROR = 2;

/** Starts an OpenTelemetry collector (OTLP over HTTP, JSON) that stores all spans. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const bodies: string[] = [];
  const headers: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    headers.push(`${String(request.method)} ${String(request.url)}\n${request.rawHeaders.join('\n')}`);
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        bodies.push(Buffer.concat(chunks).toString('utf8'));
        response.writeHead(200, { 'Content-Type': 'application/json', Connection: 'close' }).end('{}');
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    spans: () => bodies.flatMap((body) => spansOf(JSON.parse(body) as TraceRequest)),
    clear: () => {
      bodies.length = headers.length = 0;
    },
    text: () => [...headers, ...bodies].join('\n'),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function spansOf({ resourceSpans }: TraceRequest): ExportedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ traceId, spanId, parentSpanId, name, kind, attributes, status }) => ({
        traceId,
        spanId,
        parentSpanId: parentSpanId || undefined,
        name,
        kind: KINDS[kind] ?? 'INTERNAL',
        attributes: record(attributes),
        isError: status.code === STATUS_ERROR,
        resource: record(resource.attributes),
      })),
  );
}

function record(attributes: readonly Attribute[]): Record<string, string | number | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
}
