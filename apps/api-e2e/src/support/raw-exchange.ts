import net from 'node:net';
import tls from 'node:tls';
import type { HttpResponse } from './http-response.js';

const INACTIVITY_TIMEOUT_MS = 8_000;

/** Writes bytes to a new connection and returns the responses once the server closes it. Rejects if the connection stays open. */
export async function rawExchange(url: URL, bytes: string | Uint8Array): Promise<HttpResponse[]> {
  const secure = url.protocol === 'https:';
  const address = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || (secure ? 443 : 80) };
  const socket = secure ? tls.connect({ ...address, servername: address.host }) : net.connect(address);
  const received: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.setTimeout(INACTIVITY_TIMEOUT_MS, () => {
      reject(new Error(`the connection is still open after: ${JSON.stringify(Buffer.concat(received).toString('latin1'))}`));
      socket.destroy();
    });
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.on('close', () => resolve());
    // A server that closes with unread bytes resets the connection. Responses received before are valid.
    socket.on('error', (error) => (received.length > 0 ? resolve() : reject(error)));
    socket.write(bytes);
  });
  return parseResponses(Buffer.concat(received));
}

function parseResponses(bytes: Buffer): HttpResponse[] {
  const responses: HttpResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const head = rest.subarray(0, rest.indexOf('\r\n\r\n')).toString('latin1');
    const [statusLine = '', ...fields] = head.split('\r\n');
    const status = Number(/^HTTP\/1\.1 ([1-5][0-9]{2}) /.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new Error(`not an HTTP response: ${JSON.stringify(rest.toString('latin1'))}`);
    const headers = parseFields(fields);
    rest = rest.subarray(head.length + '\r\n\r\n'.length);
    const bodyless = status < 200 || status === 204 || status === 304;
    const [body, size] = bodyless ? [rest.subarray(0, 0), 0] : readBody(headers, rest);
    responses.push({ status, headers, text: body.toString('utf8') });
    rest = rest.subarray(size);
  }
  return responses;
}

/** Returns the body at the start of the bytes, and its encoded size. */
function readBody(headers: Readonly<Record<string, string>>, bytes: Buffer): [body: Buffer, size: number] {
  if (headers['transfer-encoding'] !== 'chunked') {
    const size = Number(headers['content-length'] ?? bytes.length);
    return [bytes.subarray(0, size), size];
  }
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.subarray(at, bytes.indexOf('\r\n', at)).toString('latin1');
    const size = Number.parseInt(line, 16);
    if (Number.isNaN(size)) throw new Error(`not a chunk: ${JSON.stringify(line)}`);
    const start = at + line.length + '\r\n'.length;
    at = start + size + '\r\n'.length;
    if (size === 0) return [Buffer.concat(chunks), at];
    chunks.push(bytes.subarray(start, start + size));
  }
}

function parseFields(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
