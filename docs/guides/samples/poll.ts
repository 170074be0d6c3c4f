import { AnimalStore, type Pet } from '@animal-store/client';

const baseURL = 'http://localhost:3000';
const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL });

// Store the state that each poll returns, as JSON. On the first page, the cursor is undefined.
interface State {
  start?: string | undefined; // cursor of the page at which the next poll begins
  seen: string[]; // ids of the animals that the last poll read
  last?: string | undefined; // cursor of the last page of an earlier poll, at which a later poll begins
  endedAt: number; // when this earlier poll ended
}

// The state before the first poll.
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
