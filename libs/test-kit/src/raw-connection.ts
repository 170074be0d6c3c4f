import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const RESPONSE_TIMEOUT_MS = 15_000;

/** An HTTP response. Field names are in lower case, and repeated fields are joined by `, `. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ReadOptions {
  readonly isHead?: boolean;
  /** Also returns a 1xx. */
  readonly isInterim?: boolean;
}

/** Thrown if the server sends something other than HTTP responses, or nothing for too long. */
class MalformedResponseError extends Error {}

/** A TCP connection that writes raw bytes and reads HTTP responses. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private isClosed = false;
  private isReset = false;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket
      .on('data', (chunk: Buffer) => {
        this.received = Buffer.concat([this.received, chunk]);
      })
      .on('error', () => {
        this.isReset = true;
      })
      .on('close', () => {
        this.isClosed = true;
      });
  }

  static async open(url: string): Promise<RawConnection> {
    const { protocol, hostname, port } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, '');
    const isSecure = protocol === 'https:';
    const address = { host, port: Number(port) || (isSecure ? 443 : 80) };
    const socket = isSecure ? connectTls({ ...address, servername: host }) : connect(address);
    await once(socket, isSecure ? 'secureConnect' : 'connect');
    return new RawConnection(socket);
  }

  write(bytes: string | Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Ends our side of the connection; the server's side remains open. */
  end(): void {
    if (!this.socket.destroyed) this.socket.end();
  }

  /** Resets the connection, so that its port is not left in TIME_WAIT: there are fewer ports than connections. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** A connection that is declared with `using` is reset at the end of its block. */
  [Symbol.dispose] = (): void => this.reset();

  /** Reads the next response, by default the next final one. Returns undefined if the server has closed the connection. */
  async read({ isHead = false, isInterim = false }: ReadOptions = {}): Promise<RawResponse | undefined> {
    const deadline = Date.now() + RESPONSE_TIMEOUT_MS;
    for (;;) {
      const parsed = parseResponse(this.received, isHead, this.isClosed);
      if (parsed) {
        this.received = this.received.subarray(parsed.size);
        if (isInterim || parsed.response.status >= 200) return parsed.response;
        continue;
      }
      if (this.isClosed) {
        // A reset may discard received bytes.
        if (this.received.length > 0 && !this.isReset) throw new MalformedResponseError(`no HTTP response: ${this.beginning()}`);
        return undefined;
      }
      const remainingMs = deadline - Date.now();
      if (remainingMs <= 0) {
        throw new MalformedResponseError(`no response, and the connection stays open; received so far: ${this.beginning()}`);
      }
      await this.change(remainingMs);
    }
  }

  /** Whether there are unread bytes. */
  get hasBytes(): boolean {
    return this.received.length > 0;
  }

  private beginning(): string {
    return JSON.stringify(this.received.subarray(0, 500).toString('latin1'));
  }

  private change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        this.socket.off('data', settle).off('close', settle);
        resolve();
      };
      const timer = setTimeout(settle, timeoutMs);
      this.socket.on('data', settle).on('close', settle);
    });
  }
}

const END_OF_HEAD = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.1 ([1-5][0-9]{2}) [\x20-\x7e]*$/;

/** Parses the first response. Returns undefined if it is incomplete. */
function parseResponse(bytes: Buffer, isHead: boolean, isClosed: boolean): { response: RawResponse; size: number } | undefined {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new MalformedResponseError(`no status line: ${JSON.stringify(statusLine.slice(0, 200))}`);
  const headers = parseFields(lines);
  const start = headEnd + END_OF_HEAD.length;
  const isBodiless = isHead || status < 200 || status === 204 || status === 304;
  const body = isBodiless ? { bytes: Buffer.alloc(0), end: start } : readBody(bytes, start, headers, isClosed);
  return body && { response: { status, headers, body: body.bytes.toString('utf8') }, size: body.end };
}

function parseFields(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === '') throw new MalformedResponseError(`no header field: ${JSON.stringify(line.slice(0, 200))}`);
    const known = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = known === undefined ? value : `${known}, ${value}`;
  }
  return headers;
}

function readBody(
  bytes: Buffer,
  start: number,
  headers: Readonly<Record<string, string>>,
  isClosed: boolean,
): { bytes: Buffer; end: number } | undefined {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes, start);
  const length = headers['content-length'];
  if (length === undefined) return isClosed ? { bytes: bytes.subarray(start), end: bytes.length } : undefined;
  const end = start + Number(length);
  return bytes.length < end ? undefined : { bytes: bytes.subarray(start, end), end };
}

function readChunks(bytes: Buffer, start: number): { bytes: Buffer; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { bytes: Buffer.concat(chunks), end };
    chunks.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** A GET request as it is sent on a socket. */
export const rawGet = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;

/** Returns a server's part of a connection that sends the text as often as the client reads it. */
export const endless =
  (head: string, text = 'a') =>
  (socket: Socket) => {
    const chunk = text.repeat(65_536 / text.length);
    const write = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.write(head);
    socket.on('drain', write);
    write();
  };

/** Sends pipelined requests and does not read the responses. */
export async function pipelineUnread(url: string, request: string, times: number): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(request.repeat(times));
  return socket;
}
