import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../ledger.js';
import { AnimalStore, APIError } from '@animal-store/client';

/** Retries that continue for longer than a failover takes. */
const RETRIES = { timeout: 5_000, totalTimeout: 30_000, maxRetries: 100, maxRetryDelay: 2_000 };
const WRITERS = 3;
const READERS = 2;
const PAUSE_MS = 100;
const PROBE_INTERVAL_MS = 250;
const PROBE_TIMEOUT_MS = 10_000;

/** When requests succeeded, in milliseconds of `performance.now()`. */
export interface Successes {
  readonly writes: number[];
  readonly reads: number[];
}

/**
 * Callers of the service that use `@animal-store/client` with its retries, and probes without retries, which show when the service is
 * available. Each acknowledged pet is read again.
 */
export class ClusterLoad {
  readonly successes: Successes = { writes: [], reads: [] };
  /** Errors that the client has thrown. */
  readonly errors: string[] = [];
  private readonly acknowledged: bigint[] = [];
  private readonly running: Promise<void>[] = [];
  private readonly probes = new Set<Promise<void>>();
  private isStopping = false;
  private serial = 0;

  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly ledger: Ledger,
  ) {}

  start(): void {
    for (let i = 0; i < WRITERS; i++) this.running.push(this.repeat(PAUSE_MS, () => this.write()));
    for (let i = 0; i < READERS; i++)
      this.running.push(this.repeat(PAUSE_MS, () => this.read(this.acknowledged[Math.floor(Math.random() * this.acknowledged.length)])));
    this.running.push(
      this.repeat(PROBE_INTERVAL_MS, async () => {
        for (const probe of [this.probeWrite(), this.probeRead()]) {
          this.probes.add(probe);
          void probe.finally(() => this.probes.delete(probe));
        }
      }),
    );
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
    await Promise.all(this.probes);
  }

  private async repeat(pauseMs: number, action: () => Promise<void>): Promise<void> {
    while (!this.isStopping) {
      await action();
      await sleep(pauseMs);
    }
  }

  private get client(): AnimalStore {
    return new AnimalStore({ ...RETRIES, apiKey: this.key, baseURL: this.url, fetch: (url, init) => this.fetch(url, init) });
  }

  /** Records every response, including those of attempts that are retried. */
  private async fetch(url: string, init: RequestInit): Promise<Response> {
    const response = await fetch(url, init);
    const text = await response.text();
    const operation = init.method === 'POST' ? 'createPet' : 'listPets';
    this.ledger.recordResponse(operation, response.status, text);
    if (response.ok) (operation === 'createPet' ? this.successes.writes : this.successes.reads).push(performance.now());
    return new Response(text, response);
  }

  private async write(): Promise<void> {
    const name = this.nextName();
    const pet = await this.attempt(`create ${name}`, () => this.client.pets.create({ name, categoryId: 7n }));
    if (!pet) return;
    this.ledger.recordCreation(name, String(pet.id));
    this.acknowledged.push(pet.id);
    await this.read(pet.id);
  }

  /** An acknowledged pet that is not found was read from a server that is behind the primary. */
  private async read(id: bigint | undefined): Promise<void> {
    if (id === undefined) return;
    const page = await this.attempt(`list ${id}`, () => this.client.pets.list({ id }));
    if (page && page.data[0]?.id !== id) this.ledger.addProblem(`the acknowledged pet ${id} was not found`);
  }

  private async attempt<T>(what: string, action: () => Promise<T>): Promise<T | undefined> {
    const begin = performance.now();
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      this.errors.push(`${what} after ${Math.round(performance.now() - begin)} ms: ${error.name} ${error.message}`);
      return undefined;
    }
  }

  private async probeWrite(): Promise<void> {
    const name = this.nextName();
    const body = JSON.stringify({ name, categoryId: 7 });
    const text = await this.probe('/v1/pets', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name.replace(' ', '-') },
    });
    if (text !== undefined) this.ledger.recordCreation(name, /"id":(\d+)/.exec(text)?.[1] ?? text);
  }

  private async probeRead(): Promise<void> {
    await this.probe('/v1/pets?limit=1', { method: 'GET' });
  }

  /** One attempt. Returns the text of a successful response. */
  private async probe(path: string, { headers, ...init }: RequestInit): Promise<string | undefined> {
    try {
      const response = await this.fetch(this.url + path, {
        ...init,
        headers: { ...headers, Authorization: `Bearer ${this.key}` },
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      const text = await response.text();
      return response.ok ? text : undefined;
    } catch {
      return undefined;
    }
  }

  private nextName(): string {
    return `chaos cluster-${this.serial++}`;
  }
}
