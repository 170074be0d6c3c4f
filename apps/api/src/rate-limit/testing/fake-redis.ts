import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** Returns the response to a command in RESP, or undefined to send none. */
export type Respond = (args: readonly string[]) => string | undefined;

type CreateServer = (onConnection: (socket: Socket) => void) => Server;

/** A Redis of a spec: counts without windows, unless `respond` is replaced. */
export class FakeRedis {
  readonly sockets = new Set<Socket>();
  readonly commands: (readonly string[])[] = [];
  connections = 0;
  respond: Respond = (args) => this.count(args);
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
  count([name, , , key = '', points]: readonly string[]): string {
    if (name !== 'EVAL') return '+OK\r\n';
    const count = (this.counts.get(key) ?? 0) + Number(points);
    this.counts.set(key, count);
    return `*2\r\n:${String(count)}\r\n:30000\r\n`;
  }

  /** Forgets all counts. */
  reset(): void {
    this.counts.clear();
  }

  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    this.connections++;
    this.sockets.add(socket);
    let received = '';
    socket
      .on('error', () => undefined)
      .on('close', () => this.sockets.delete(socket))
      .on('data', (bytes: Buffer) => {
        received += bytes.toString();
        for (let command = readCommand(received); command; command = readCommand(received)) {
          received = received.slice(command.length);
          this.commands.push(command.args);
          const response = this.respond(command.args);
          if (response !== undefined) socket.write(response);
        }
      });
  }
}

/** Reads an array of bulk strings of ASCII characters. Returns undefined if it is incomplete. */
function readCommand(text: string): { readonly args: readonly string[]; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (!head) return undefined;
  const args: string[] = [];
  let at = head[0].length;
  while (args.length < Number(head[1])) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 16));
    if (!size) return undefined;
    const begin = at + size[0].length;
    at = begin + Number(size[1]) + 2;
    if (text.length < at) return undefined;
    args.push(text.slice(begin, at - 2));
  }
  return { args, length: at };
}
