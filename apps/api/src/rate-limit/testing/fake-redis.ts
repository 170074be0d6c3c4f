import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

type CreateServer = (onConnection: (socket: Socket) => void) => Server;

/** A Redis of a spec: counts without windows, unless `respond` is replaced. */
export class FakeRedis {
  readonly sockets = new Set<Socket>();
  readonly commands: (readonly string[])[] = [];
  connections = 0;
  /** Returns the reply to a command, or undefined to send none. */
  respond: (words: readonly string[], socket: Socket) => string | undefined = (words) => this.count(words);
  private readonly counts = new Map<string, number>();
  private readonly server: Server;

  private constructor(create: CreateServer) {
    this.server = create((socket) => this.serve(socket));
  }

  static async start(create: CreateServer = createServer): Promise<FakeRedis> {
    const redis = new FakeRedis(create);
    redis.server.listen(0, '127.0.0.1');
    await once(redis.server, 'listening');
    return redis;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  /** Responds to EVAL with the count of the key and 30 s, to other commands with OK. */
  count([name, , , key = '']: readonly string[]): string {
    if (name !== 'EVAL') return '+OK\r\n';
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return `*2\r\n:${String(count)}\r\n:30000\r\n`;
  }

  /** Forgets all counts. */
  reset(): void {
    this.counts.clear();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString();
      for (let lines = received.split('\r\n'); lines.length > 1 + 2 * Number(lines[0]?.slice(1)); lines = received.split('\r\n')) {
        const command = lines.slice(0, 1 + 2 * Number(lines[0]?.slice(1)));
        received = received.slice(command.join('\r\n').length + 2);
        const words = command.filter((_, index) => index > 0 && index % 2 === 0);
        this.commands.push(words);
        const reply = this.respond(words, socket);
        if (reply !== undefined) socket.write(reply);
      }
    });
  }
}
