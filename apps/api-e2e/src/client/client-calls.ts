import {
  AnimalStore,
  APIError,
  type CachedResponse,
  type ClientOptions,
  type CreateOptions,
  type Pet,
  type PetListParams,
} from '@animal-store/client';

/** Client options that are valid JSON, so that a test can pass them to a browser page. */
export interface Target {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly maxRetries?: number;
  readonly timeout?: number;
}

export type Outcome = { readonly pet: Pet } | { readonly error: Failure };

export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly retryable?: boolean;
  readonly retryAfter?: number | undefined;
  readonly hasRequestId?: boolean;
}

function clientOf(target: Target, options: Partial<ClientOptions> = {}): AnimalStore {
  return new AnimalStore({ minRetryDelay: 1, maxRetryDelay: 5, logger: { warn: () => undefined }, ...target, ...options });
}

async function failureOf(request: Promise<unknown>): Promise<Failure> {
  try {
    await request;
  } catch (error) {
    const { name, message } = error as Error;
    if (!(error instanceof APIError)) return { name, message };
    const { status, code, retryable, retryAfter, requestId } = error;
    return { name, message, status, code, retryable, retryAfter, hasRequestId: requestId !== undefined };
  }
  return { name: 'none', message: 'the request succeeded' };
}

const outcomeOf = (request: Promise<Pet>): Promise<Outcome> =>
  request.then(
    (pet) => ({ pet }),
    async () => ({ error: await failureOf(request) }),
  );

/** Calls of the client. They run in Node.js and in browsers and return plain data for the test to check. */
export const clientCalls = {
  create: (target: Target, name: string, categoryId: string, options: CreateOptions = {}) =>
    clientOf(target).pets.create({ name, categoryId: BigInt(categoryId), status: 'sold' }, options),

  retrieve: (target: Target, id: string) => clientOf(target).pets.retrieve(BigInt(id)),

  async list(target: Target, params: PetListParams): Promise<Pet[]> {
    const pets: Pet[] = [];
    for await (const pet of clientOf(target).pets.list(params)) pets.push(pet);
    return pets;
  },

  async iteratedPages(target: Target, params: PetListParams): Promise<number[]> {
    const sizes: number[] = [];
    for await (const page of (await clientOf(target).pets.list(params)).iterPages()) sizes.push(page.data.length);
    return sizes;
  },

  listFailure: (target: Target, params: object) => failureOf(clientOf(target).pets.list(params)),

  /** Creates pets one at a time. Continues after a failure. */
  async createMany(target: Target, names: readonly string[]): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const name of names) outcomes.push(await outcomeOf(clientOf(target).pets.create({ name, categoryId: 7n })));
    return outcomes;
  },

  async rawResponses(target: Target): Promise<object> {
    const { pets } = clientOf(target);
    const created = await pets.create({ name: 'Rex', categoryId: 7n }).withResponse();
    const response = await pets.list({ limit: 1 }).asResponse();
    return {
      data: created.data,
      location: created.response.headers.get('Location'),
      status: created.response.status,
      requestId: created.requestId !== undefined && created.requestId === created.response.headers.get('X-Request-Id'),
      createdText: await created.response.text(),
      listUrl: response.url,
      listText: await response.text(),
      type: Object.prototype.toString.call(pets.list()),
    };
  },

  async replayed(target: Target, idempotencyKey: string): Promise<(string | null)[]> {
    const { pets } = clientOf(target);
    const replayed: (string | null)[] = [];
    for (let i = 0; i < 2; i++) {
      const { response } = await pets.create({ name: 'Rex', categoryId: 7n }, { idempotencyKey }).withResponse();
      replayed.push(response.headers.get('Idempotent-Replayed'));
    }
    return replayed;
  },

  /** Lists all pages three times and adds a pet before the third time. Returns all response statuses, and the names of each list. */
  async cached(target: Target): Promise<{ statuses: number[]; names: string[][] }> {
    const statuses: number[] = [];
    const hooks = { onResponse: (_: unknown, { status }: { status: number }) => void statuses.push(status) };
    const stored = new Map<string, CachedResponse>();
    // Asynchronous, like a cache outside the process.
    const cache = {
      get: (url: string) => Promise.resolve(stored.get(url)),
      set: (url: string, response: CachedResponse) => Promise.resolve(stored.set(url, response)),
    };
    const { pets } = clientOf(target, { cache, hooks });
    const names: string[][] = [];
    for (let round = 0; round < 3; round++) {
      if (round === 2) await clientOf(target).pets.create({ name: `late`, categoryId: 7n });
      names.push([]);
      for await (const { name } of pets.list({ limit: 2 })) names[round]?.push(name);
    }
    return { statuses, names };
  },

  /** Aborts during an attempt. */
  abortedDuring: (target: Target) => {
    const controller = new AbortController();
    const { pets } = clientOf(target, { hooks: { onRequest: () => void setTimeout(() => controller.abort(), 50) } });
    return failureOf(pets.list({}, { signal: controller.signal }));
  },

  /** Returns the hook calls for one creation. */
  async hooks(target: Target): Promise<string[]> {
    const events: string[] = [];
    const client = clientOf(target, {
      hooks: {
        onRequest: async ({ operation, method, url, attempt, headers }) => {
          await Promise.resolve();
          headers.set('X-Request-Id', `attempt-${attempt}`);
          events.push(`request ${operation} ${method} ${new URL(url).pathname} ${attempt}`);
        },
        onResponse: ({ attempt }, { status, requestId, durationMs }) => {
          events.push(`response ${attempt} ${status} ${requestId ?? '-'} ${durationMs > 0}`);
        },
        onError: ({ attempt }, { name }, retryInMs) => void events.push(`error ${attempt} ${name} ${retryInMs !== undefined}`),
      },
    });
    await failureOf(client.pets.create({ name: 'Rex', categoryId: 7n }));
    return events;
  },

  /** Returns the warnings of two calls of a deprecated operation. */
  async warnings(target: Target, id: string): Promise<string[]> {
    Object.assign(globalThis, { [Symbol.for('@animal-store/client.warned')]: undefined });
    const warnings: string[] = [];
    const logger = { warn: (message: string) => void warnings.push(message) };
    for (let i = 0; i < 2; i++) await clientOf(target, { logger }).pets.retrieve(BigInt(id));
    return warnings;
  },
};
