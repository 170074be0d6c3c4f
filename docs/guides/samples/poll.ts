import { AnimalStore, type Pet } from '@animal-store/client';

const baseURL = 'http://localhost:3000';
const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL });

// Store it as JSON after each poll. A cursor is undefined for the first page.
interface State {
  start?: string | undefined; // the page that the next poll begins at
  seen: string[]; // ids of the animals that the last poll read
  last?: string | undefined; // the last page of an earlier poll: the next start
  endedAt: number; // when that poll ended
}

// With this state, a poll begins at the first page.
const FIRST_STATE: State = { seen: [], endedAt: 0 };

async function poll({ start, seen, last, endedAt }: State): Promise<{ pets: Pet[]; state: State }> {
  const beganAt = Date.now();
  const all: Pet[] = [];
  let cursor = start;
  let isLast = false;
  while (!isLast) {
    const page = await client.pets.list({ limit: 100, ...(cursor && { cursor }) }).withResponse();
    all.push(...page.data.data);
    const next = /<([^>]*)>; rel="next"/.exec(page.response.headers.get('Link') ?? '')?.[1];
    if (next) cursor = new URL(next, baseURL).searchParams.get('cursor') ?? undefined;
    isLast = !next;
  }
  const known = new Set(seen);
  const pets = all.filter(({ id }) => !known.has(String(id)));
  const state = { start, seen: all.map(({ id }) => String(id)), last, endedAt };
  const isOld = beganAt - endedAt > 60_000;
  return { pets, state: isOld ? { ...state, start: last, last: cursor, endedAt: Date.now() } : state };
}

let state = FIRST_STATE;
for (let count = 1; count <= 2; count++) {
  const result = await poll(state);
  state = result.state;
  console.log(`${result.pets.length} new animals`);
}
