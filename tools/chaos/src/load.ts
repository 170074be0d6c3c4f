import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger, Operation } from './ledger.js';
import type { Random } from './random.js';

const REQUEST_TIMEOUT_MS = 15_000;
const RETRY_AFTER_MS = 50;

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** Of one phase of the run. */
export class Observations {
  readonly acceptedMs: number[] = [];
  shed = 0;
  /** Requests that got no answer at all, each with how it ended. */
  readonly dropped: string[] = [];
  /** How many got none that were under way while a fault was allowed to drop requests. */
  excused = 0;

  quantile(share: number): number {
    const sorted = this.acceptedMs.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }
}

/** Several clients that create, list and get, and retry a creation with its key until they are told. */
export class Load {
  observations = new Observations();
  /** As many connections as there are requests at once: what waits shall wait at the service, not here. */
  private readonly agent = new Agent({ keepAlive: true });
  private readonly clients: Promise<void>[] = [];
  private readonly pending = new Set<{ isExcused: boolean }>();
  private mayDrop = false;
  private stopping = false;
  private serial = 0;
  /** When waiting for a success of each operation began, and who waits. */
  private waiting: { since: number; missing: Set<Operation>; done: (ms: number) => void } | undefined;

  constructor(
    private readonly url: string,
    private readonly keys: readonly string[],
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly pauseMs: number,
  ) {}

  start(clients: number): void {
    for (let i = 0; i < clients; i++) this.clients.push(this.runClient(this.keys[i % this.keys.length] ?? ''));
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.clients);
    this.agent.destroy();
  }

  /** Begins a new phase and hands back what was seen of the last one. */
  nextPhase(): Observations {
    const seen = this.observations;
    this.observations = new Observations();
    return seen;
  }

  /** Whether requests that are under way from now on may get no answer, however late that shows. */
  allowDrops(mayDrop: boolean): void {
    this.mayDrop = mayDrop;
    if (mayDrop) for (const pending of this.pending) pending.isExcused = true;
  }

  /** Milliseconds until each operation has succeeded again. */
  recovery(): Promise<number> {
    return new Promise((done) => {
      this.waiting = { since: performance.now(), missing: new Set(['createPet', 'listPets', 'getPet']), done };
    });
  }

  private async runClient(key: string): Promise<void> {
    let known: string | undefined;
    while (!this.stopping) {
      const dice = this.random.next();
      if (dice < 0.3) known = (await this.create(key)) ?? known;
      else if (dice < 0.6 && known !== undefined) await this.send('getPet', 'GET', `/v1/pets/${known}`, key);
      else await this.send('listPets', 'GET', `/v1/pets?limit=${1 + this.random.below(20)}`, key);
      await sleep(this.random.below(this.pauseMs));
    }
  }

  /** Repeats the request with its key until it is told what became of it, even after the load has been told to stop. */
  private async create(key: string): Promise<string | undefined> {
    const name = `chaos ${process.pid} ${this.serial++}`;
    const body = JSON.stringify({ name, categoryId: this.random.below(100), status: 'available' });
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const answer = await this.send('createPet', 'POST', '/v1/pets', key, { body, idempotencyKey: name });
      if (answer?.status === 201) {
        const id = /"id":(\d+)/.exec(answer.text)?.[1] ?? '';
        this.ledger.created(name, id);
        return id;
      }
      if (answer && answer.status < 500 && answer.status !== 429 && answer.status !== 408) return undefined;
      await sleep(RETRY_AFTER_MS);
    }
    this.ledger.problem(`${name} was never answered`);
    return undefined;
  }

  private async send(
    operation: Operation,
    method: string,
    path: string,
    key: string,
    { body, idempotencyKey }: { body?: string; idempotencyKey?: string } = {},
  ): Promise<Answer | undefined> {
    const headers = {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': `"${idempotencyKey.replaceAll(' ', '-')}"` }),
    };
    const pending = { isExcused: this.mayDrop };
    this.pending.add(pending);
    const answer = await this.exchange(method, path, headers, body);
    this.pending.delete(pending);
    if (typeof answer === 'string') {
      if (pending.isExcused) this.observations.excused++;
      else this.observations.dropped.push(`${operation} ${answer}`);
      return undefined;
    }
    this.ledger.answered(operation, answer.status, answer.text);
    if (answer.status === 503 || answer.status === 429) this.observations.shed++;
    else this.observations.acceptedMs.push(answer.ms);
    if (answer.status < 300) this.succeeded(operation);
    return answer;
  }

  private succeeded(operation: Operation): void {
    const { waiting } = this;
    if (!waiting?.missing.delete(operation) || waiting.missing.size > 0) return;
    this.waiting = undefined;
    waiting.done(performance.now() - waiting.since);
  }

  /** Resolves to the response, or to how the request ended without one. */
  private exchange(method: string, path: string, headers: Record<string, string | number>, body?: string): Promise<Answer | string> {
    const begin = performance.now();
    return new Promise((resolve) => {
      const outgoing = request(this.url + path, { method, headers, agent: this.agent, timeout: REQUEST_TIMEOUT_MS }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text, ms: performance.now() - begin }));
        incoming.on('error', ended);
      });
      const ended = ({ message }: Error) => {
        const connection = outgoing.reusedSocket ? 'a connection used before' : 'a new connection';
        resolve(`after ${Math.round(performance.now() - begin)} ms on ${connection}: ${message}`);
      };
      outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')));
      outgoing.on('error', ended);
      outgoing.end(body);
    });
  }
}
