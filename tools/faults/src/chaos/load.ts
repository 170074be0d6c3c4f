import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AnimalStore, APIError } from '@animal-store/client';
import type { Ledger, Operation } from '../ledger.js';
import type { Random } from '../random.js';

const REQUEST_TIMEOUT_MS = 15_000;
/** Many retries with short delays, so that clients retry soon after the service is back. */
const RETRIES = { maxRetries: 1_000, minRetryDelay: 100, maxRetryDelay: 100 };

export interface TimedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly ms: number;
}

/** Observations of one phase of the run. */
export class Observations {
  readonly acceptedMs: number[] = [];
  shed = 0;
  /** How each request without a response ended. */
  readonly dropped: string[] = [];
  /** Number of requests without a response that were in flight while a fault was allowed to drop requests. */
  excused = 0;

  quantile(share: number): number {
    const sorted = this.acceptedMs.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }
}

/**
 * Several clients that list and get. Half of them also create, with the retries of `@animal-store/client`: they wait during an outage,
 * while the others continue.
 */
export class Load {
  observations = new Observations();
  /** One connection per concurrent request, so that requests queue in the service and not here. */
  private readonly agent = new Agent({ keepAlive: true });
  private readonly clients: Promise<void>[] = [];
  private readonly pending = new Set<{ isExcused: boolean }>();
  private mayDrop = false;
  private stopping = false;
  private serial = 0;
  /** The id of an existing pet. */
  private knownPetId: string | undefined;
  /** The running `recovery()`: its start, and the operations that have not succeeded yet. */
  private waiting: { since: number; missing: Set<Operation>; done: (ms: number) => void } | undefined;

  constructor(
    private readonly url: string,
    private readonly keys: readonly string[],
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly pauseMs: number,
  ) {}

  start(clients: number): void {
    for (let i = 0; i < clients; i++) this.clients.push(this.runClient(this.keys[i % this.keys.length] ?? '', i % 2 === 0));
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await Promise.all(this.clients);
    this.agent.destroy();
  }

  /** Starts a new phase and returns the observations of the last one. */
  nextPhase(): Observations {
    const finished = this.observations;
    this.observations = new Observations();
    return finished;
  }

  /** Sets whether requests may get no response. `true` applies to each request in flight until the next call, even if it ends later. */
  allowDrops(mayDrop: boolean): void {
    this.mayDrop = mayDrop;
    if (mayDrop) for (const pending of this.pending) pending.isExcused = true;
  }

  /** Resolves to the milliseconds until each operation has succeeded again. */
  recovery(): Promise<number> {
    return new Promise((done) => {
      this.waiting = { since: performance.now(), missing: new Set(['createPet', 'listPets', 'getPet']), done };
    });
  }

  private async runClient(key: string, creates: boolean): Promise<void> {
    const { pets } = new AnimalStore({ apiKey: key, baseURL: this.url, fetch: (...request) => this.sendCreation(...request), ...RETRIES });
    const headers = { Authorization: `Bearer ${key}` };
    while (!this.stopping) {
      const dice = this.random.next();
      if (creates && dice < 0.6) this.knownPetId = (await this.create(pets)) ?? this.knownPetId;
      else if (dice < 0.8 && this.knownPetId !== undefined) await this.send('getPet', 'GET', `/v1/pets/${this.knownPetId}`, headers);
      else await this.send('listPets', 'GET', `/v1/pets?limit=${1 + this.random.below(20)}`, headers);
      await sleep(this.random.below(this.pauseMs));
    }
  }

  /** Creates a pet, with retries even after `stop()`. Returns its id, or undefined if the service rejects it. */
  private async create(pets: AnimalStore['pets']): Promise<string | undefined> {
    const name = `chaos ${process.pid} ${this.serial++}`;
    const pet = { name, categoryId: BigInt(this.random.below(100)), status: 'available' } as const;
    try {
      const id = String((await pets.create(pet, { idempotencyKey: name.replaceAll(' ', '-') })).id);
      this.ledger.recordCreation(name, id);
      return id;
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      if (error.retryable) this.ledger.addProblem(`${name} never got a final response: ${error.message}`);
      return undefined;
    }
  }

  /** The `fetch` of the client. Records every attempt like other requests. */
  private async sendCreation(_url: string, { headers, body }: RequestInit): Promise<Response> {
    const response = await this.send('createPet', 'POST', '/v1/pets', Object.fromEntries(new Headers(headers)), body as string);
    if (!response) throw new Error('no response');
    return new Response(response.text, response);
  }

  private async send(
    operation: Operation,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<TimedResponse | undefined> {
    const pending = { isExcused: this.mayDrop };
    this.pending.add(pending);
    const response = await this.sendRequest(method, path, headers, body);
    this.pending.delete(pending);
    if (typeof response === 'string') {
      if (pending.isExcused) this.observations.excused++;
      else this.observations.dropped.push(`${operation} ${response}`);
      return undefined;
    }
    this.ledger.recordResponse(operation, response.status, response.text);
    if (response.status === 503 || response.status === 429) this.observations.shed++;
    else this.observations.acceptedMs.push(response.ms);
    if (response.status < 300) this.recordSuccess(operation);
    return response;
  }

  private recordSuccess(operation: Operation): void {
    const { waiting } = this;
    if (!waiting?.missing.delete(operation) || waiting.missing.size > 0) return;
    this.waiting = undefined;
    waiting.done(performance.now() - waiting.since);
  }

  /** Resolves to the response, or to how the request ended without one. */
  private sendRequest(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<TimedResponse | string> {
    const begin = performance.now();
    return new Promise((resolve) => {
      const outgoing = request(this.url + path, { method, headers, agent: this.agent, timeout: REQUEST_TIMEOUT_MS }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () => {
          const { statusCode: status = 0, headers: received } = incoming;
          resolve({ status, headers: received as Record<string, string>, text, ms: performance.now() - begin });
        });
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
