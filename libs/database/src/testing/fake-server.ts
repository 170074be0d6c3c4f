import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

const SSL_REQUEST = 80_877_103;
/** Object identifiers of types. */
const [TEXT, BOOLEAN, JSON_TYPE] = [25, 16, 114];

interface FakeServerOptions {
  readonly isStandby?: boolean;
  /** Settings of the role that a pooler's sessions have, whatever the start-up packet says. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Delays the end of the login. */
  readonly login?: Promise<void>;
  /** The SQLSTATE with which each login fails, in Spanish. */
  readonly rejectsLogin?: string;
  /** What the server sends instead of a response to the start-up packet before it closes the connection. */
  readonly greeting?: string;
  /** What the server sends instead of a response to the start-up packet. It leaves the connection open. */
  readonly asksFor?: Buffer;
  /** Whether it ignores that a client ends its connection. */
  readonly ignoresEnd?: boolean;
  /** Statements without a response. */
  readonly ignores?: RegExp;
  /** Statements that fail, with the SQLSTATE 42501. */
  readonly rejects?: RegExp;
}

/** A server that speaks as much of PostgreSQL's protocol as a client needs to connect. It does not support TLS. */
export class FakeServer {
  /** The parameters of each session, in order. */
  readonly sessions: Readonly<Record<string, string>>[] = [];
  readonly statements: string[] = [];
  tlsRequests = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer(
    { allowHalfOpen: this.options.ignoresEnd ?? false },
    (socket) => void this.serve(socket).catch(() => socket.destroy()),
  );

  private constructor(private readonly options: FakeServerOptions) {}

  static async start(options: FakeServerOptions = {}): Promise<FakeServer> {
    const fake = new FakeServer(options);
    await once(fake.server.listen(0, '127.0.0.1'), 'listening');
    return fake;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${String(this.port)}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.sockets.size;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  /** Sends the bytes to all sessions. */
  send(bytes: Buffer): void {
    for (const socket of this.sockets) socket.write(bytes);
  }

  /** Sends the bytes to all sessions, then closes their connections. */
  terminate(bytes: Buffer): void {
    for (const socket of this.sockets) socket.end(bytes);
  }

  private async serve(socket: Socket): Promise<void> {
    this.sockets.add(socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket)));
    let isStarted = false;
    for await (const chunk of socket.iterator({ destroyOnReturn: !this.options.ignoresEnd }) as AsyncIterable<Buffer>) {
      if (!isStarted && chunk.readInt32BE(4) === SSL_REQUEST) {
        this.tlsRequests++;
        socket.write('N');
      } else if (!isStarted) {
        isStarted = true;
        const texts = chunk.toString('utf8', 8).split('\0');
        this.sessions.push(
          Object.fromEntries(texts.flatMap((name, index) => (name && index % 2 === 0 ? [[name, texts[index + 1] ?? '']] : []))),
        );
        await this.options.login;
        const { greeting, asksFor, rejectsLogin } = this.options;
        if (greeting !== undefined) socket.end(greeting);
        else if (asksFor !== undefined) socket.write(asksFor);
        else if (rejectsLogin !== undefined) socket.write(message('E', Buffer.from(`SFATAL\0C${rejectsLogin}\0Mno se puede\0\0`)));
        else socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]));
      } else if (chunk.toString('utf8', 0, 1) === 'Q') {
        const text = chunk.toString('utf8', 5, chunk.length - 1);
        this.statements.push(text);
        if (this.options.ignores?.test(text)) continue;
        socket.write(Buffer.concat([this.options.rejects?.test(text) ? REJECTED : this.row(), READY]));
      }
    }
    if (!this.options.ignoresEnd) socket.end();
  }

  /** Every message returns this row. */
  private row(): Buffer {
    const { isStandby = false, settings } = this.options;
    const ofServer = { server_encoding: 'UTF8', session_replication_role: 'origin', synchronous_commit: 'on' };
    const row = [
      ['role', TEXT, 'store'],
      ['is_standby', BOOLEAN, isStandby ? 't' : 'f'],
      ['settings', JSON_TYPE, JSON.stringify({ ...this.sessions.at(-1), ...ofServer, ...settings })],
    ] as const;
    // The name, then table, column, type, size, modifier and format. The client uses only the type.
    const columns = row.map(([name, type]) => Buffer.concat([Buffer.from(`${name}\0`), Buffer.alloc(6), int32(type), Buffer.alloc(8)]));
    const values = row.map(([, , value]) => Buffer.concat([int32(value.length), Buffer.from(value)]));
    return Buffer.concat([
      message('T', Buffer.concat([int16(row.length), ...columns])),
      message('D', Buffer.concat([int16(row.length), ...values])),
      message('C', Buffer.from('SELECT 1\0')),
    ]);
  }
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

export function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
export function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

const READY = message('Z', Buffer.from('I'));
const REJECTED = message('E', Buffer.from('SERROR\0C42501\0Mpermission denied\0\0'));
