import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

const SSL_REQUEST = 80_877_103;

interface FakeServerOptions {
  /** Whether `transaction_read_only` is on. */
  readonly isReadOnly?: boolean;
  /** Delays the end of the login. */
  readonly login?: Promise<void>;
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
  private readonly server = createServer((socket) => void this.serve(socket).catch(() => socket.destroy()));

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

  private async serve(socket: Socket): Promise<void> {
    this.sockets.add(socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket)));
    let isStarted = false;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
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
        socket.write(Buffer.concat([message('R', Buffer.alloc(4)), READY]));
      } else if (chunk.toString('utf8', 0, 1) === 'Q') {
        const text = chunk.toString('utf8', 5, chunk.length - 1);
        this.statements.push(text);
        socket.write(Buffer.concat([this.options.rejects?.test(text) ? REJECTED : this.row(), READY]));
      }
    }
    socket.end();
  }

  /** Every statement returns this row. */
  private row(): Buffer {
    const value = Buffer.from(this.options.isReadOnly ? 'on' : 'off');
    // The name, then table, column, type, size, modifier and format, which the client does not use.
    const column = Buffer.concat([Buffer.from('transaction_read_only\0'), Buffer.alloc(18)]);
    return Buffer.concat([
      message('T', Buffer.concat([int16(1), column])),
      message('D', Buffer.concat([int16(1), int32(value.length), value])),
      message('C', Buffer.from('SELECT 1\0')),
    ]);
  }
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
function message(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

const READY = message('Z', Buffer.from('I'));
const REJECTED = message('E', Buffer.from('SERROR\0C42501\0Mpermission denied\0\0'));
