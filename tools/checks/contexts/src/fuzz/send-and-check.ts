import type { ResponseRules } from './response-rules.js';
import { type Bytes, KEY, READ_ONLY_KEY } from './hostile-bytes.js';
import type { HostileInput, HostileRequest } from './hostile-input.js';
import { type RawResponse, MalformedResponseError, RawConnection } from '@animal-store/api/testing/raw-connection';

/** How long to wait for a response to bytes that may not be a request. */
const RAW_PATIENCE_MS = 30;
const CHUNK_SIZES = [1, 7, 1_000, 16_384];

export interface FuzzTarget {
  readonly port: number;
  /** With all scopes. */
  readonly key: string;
  readonly readOnlyKey: string;
}

/** The input and what was wrong with the response. */
export class FuzzFinding extends Error {
  constructor(violation: string, input: unknown) {
    super(`${violation}\nin response to ${toAscii(JSON.stringify(input))}`);
  }
}

/** Sends the input, checks every response against the rules, and returns the number of requests sent. */
export async function sendAndCheck(target: FuzzTarget, rules: ResponseRules, input: HostileInput): Promise<number> {
  if (input.kind === 'raw') return sendRawAndCheck(target, rules, input.pieces);
  const { requests, isPipelined } = input;
  if (isPipelined) {
    // HEAD is replaced by GET. If an earlier request ends the connection with an error, the error response is read as the response to HEAD,
    // although it has a body.
    const readable = requests.map((request) => (request.method === 'HEAD' ? { ...request, method: 'GET' } : request));
    return pipelineAndCheck(target, rules, readable);
  }
  let connection: RawConnection | undefined;
  try {
    let sent: HostileRequest[] = [];
    for (const request of requests) {
      if (!connection || connection.hasEnded) {
        connection = await RawConnection.open(target.port);
        sent = [];
      }
      sent.push(request);
      connection.write(render(request, target));
      const response = await read(connection, { isHead: request.method === 'HEAD' }, sent);
      check(rules, response, request, sent);
      if (!response || response.headers['connection'] === 'close') {
        connection.reset();
        connection = undefined;
      }
    }
  } finally {
    connection?.reset();
  }
  return requests.length;
}

async function pipelineAndCheck(target: FuzzTarget, rules: ResponseRules, requests: readonly HostileRequest[]): Promise<number> {
  const connection = await RawConnection.open(target.port);
  try {
    connection.write(Buffer.concat(requests.map((request) => render(request, target))));
    for (const request of requests) {
      const response = await read(connection, { isHead: false }, requests);
      if (!response) break;
      check(rules, response, request, requests);
      if (response.headers['connection'] === 'close') break;
    }
  } finally {
    connection.reset();
  }
  return requests.length;
}

/** Sends raw bytes. All output must be valid responses. After the last one, ends our side; the server must then close the connection. */
async function sendRawAndCheck(target: FuzzTarget, rules: ResponseRules, pieces: readonly Bytes[]): Promise<number> {
  const connection = await RawConnection.open(target.port);
  try {
    for (const piece of pieces) {
      connection.write(withKeys(toText(piece), target));
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let patienceMs: number | undefined = RAW_PATIENCE_MS; ;) {
      const response: RawResponse | undefined = await read(
        connection,
        { isHead: false, ...(patienceMs !== undefined && { patienceMs }) },
        pieces,
      );
      if (response) {
        const violation = rules.violation(response);
        if (violation !== undefined) throw new FuzzFinding(violation, pieces);
      } else if (patienceMs === undefined || connection.hasEnded) {
        return pieces.length;
      } else {
        connection.end();
        patienceMs = undefined;
      }
    }
  } finally {
    connection.reset();
  }
}

function check(rules: ResponseRules, response: RawResponse | undefined, request: HostileRequest, input: unknown): void {
  if (!response) return;
  const violation = rules.violation(response, request);
  if (violation !== undefined) throw new FuzzFinding(`${violation}: ${JSON.stringify(response).slice(0, 1000)}`, input);
}

async function read(
  connection: RawConnection,
  options: { isHead: boolean; patienceMs?: number },
  input: unknown,
): Promise<RawResponse | undefined> {
  try {
    return await connection.read(options);
  } catch (error) {
    if (error instanceof MalformedResponseError) throw new FuzzFinding(error.message, input);
    throw error;
  }
}

function render({ method, target: uri, headers, body }: HostileRequest, target: FuzzTarget): Buffer {
  const content = body && Buffer.concat(body.bytes.map((bytes) => withKeys(toText(bytes), target)));
  const framing: HostileRequest['headers'] = !content
    ? []
    : [body.isChunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(content.length)]];
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = withKeys(`${method} ${uri} HTTP/1.1\r\n${lines.join('')}\r\n`, target);
  if (!content) return head;
  return Buffer.concat([head, body.isChunked ? chunked(content) : content]);
}

/** Encodes the content in chunks of different sizes. */
function chunked(content: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, i = 0; at < content.length; i++) {
    const piece = content.subarray(at, at + (CHUNK_SIZES[i % CHUNK_SIZES.length] ?? 1));
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    at += piece.length;
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function toText(bytes: Bytes): string {
  return typeof bytes === 'string' ? bytes : bytes.filler.repeat(bytes.times);
}

function withKeys(text: string, { key, readOnlyKey }: FuzzTarget): Buffer {
  return Buffer.from(text.replaceAll(KEY, key).replaceAll(READ_ONLY_KEY, readOnlyKey), 'latin1');
}

/** Escapes non-ASCII characters, so that a terminal shows exactly what was sent. */
function toAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
