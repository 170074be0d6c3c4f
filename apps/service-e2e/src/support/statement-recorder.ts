import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A statement as the service sent it. A parameter in the binary format is written as bytea in hex. */
export interface RecordedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | null)[];
}

/** Statements of the platform and about the catalogue, which are no part of a context's schema. */
const OF_PLATFORM = /\b(?:pg_\w+|information_schema|jobs\.|events\.|schema_migrations)/;
const QUALIFIED_TABLE = /\b[a-z_]+"?\."?[a-z_]+/;
const STATEMENT = /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/i;

/** A proxy in front of PostgreSQL that records the statements of contexts. Accepts only connections without TLS. */
export class StatementRecorder {
  readonly statements: RecordedStatement[] = [];
  /** Names the statements that follow. */
  step = '';
  private readonly server = createServer((client) => {
    const upstream = connect(Number(this.target.port), this.target.hostname);
    const session = new Session((text, values) => this.record(text, values));
    client.on('data', (chunk: Buffer) => session.read(chunk));
    client.on('error', () => upstream.destroy()).pipe(upstream);
    upstream.on('error', () => client.destroy()).pipe(client);
  });

  private constructor(private readonly target: URL) {}

  static async start(databaseUrl: string): Promise<StatementRecorder> {
    const recorder = new StatementRecorder(new URL(databaseUrl));
    await once(recorder.server.listen(0, '127.0.0.1'), 'listening');
    return recorder;
  }

  /** The database's URL with the address of the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  stop(): void {
    this.server.close();
  }

  private record(commented: string, values: RecordedStatement['values']): void {
    const text = commented.replaceAll(/^\s*--.*$/gm, '');
    if (!STATEMENT.test(text) || OF_PLATFORM.test(text) || !QUALIFIED_TABLE.test(text)) return;
    const number = this.statements.filter(({ name }) => name.startsWith(`${this.step}, `)).length + 1;
    this.statements.push({ name: `${this.step}, ${number}`, text: text.replaceAll(/\s+/g, ' ').trim(), values });
  }
}

/** Reads what a client sends: https://www.postgresql.org/docs/current/protocol-message-formats.html */
class Session {
  private received = Buffer.alloc(0);
  private isStarted = false;
  private readonly prepared = new Map<string, string>();

  constructor(private readonly onStatement: (text: string, values: RecordedStatement['values']) => void) {}

  read(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    for (;;) {
      // The startup message has no type.
      const start = this.isStarted ? 1 : 0;
      if (this.received.length < start + 4) return;
      const end = start + this.received.readInt32BE(start);
      if (this.received.length < end) return;
      const type = this.isStarted ? String.fromCharCode(this.received[0] ?? 0) : '';
      this.isStarted = true;
      this.message(type, new Message(this.received.subarray(start + 4, end)));
      this.received = this.received.subarray(end);
    }
  }

  private message(type: string, message: Message): void {
    if (type === 'Q') this.onStatement(message.text(), []);
    if (type === 'P') this.prepared.set(message.text(), message.text());
    if (type !== 'B') return;
    message.text(); // the portal
    const text = this.prepared.get(message.text()) ?? '';
    const formats = Array.from({ length: message.int16() }, () => message.int16());
    const values = Array.from({ length: message.int16() }, (_, index) => message.value((formats[index] ?? formats[0]) === 1));
    this.onStatement(text, values);
  }
}

class Message {
  private position = 0;

  constructor(private readonly bytes: Buffer) {}

  text(): string {
    const end = this.bytes.indexOf(0, this.position);
    const text = this.bytes.toString('utf8', this.position, end);
    this.position = end + 1;
    return text;
  }

  int16(): number {
    this.position += 2;
    return this.bytes.readInt16BE(this.position - 2);
  }

  value(isBinary: boolean): string | null {
    const length = this.bytes.readInt32BE(this.position);
    this.position += 4;
    if (length < 0) return null;
    this.position += length;
    const value = this.bytes.subarray(this.position - length, this.position);
    return isBinary ? `\\x${value.toString('hex')}` : value.toString('utf8');
  }
}
