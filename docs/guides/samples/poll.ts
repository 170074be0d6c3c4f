import { AnimalStore, type Pet } from '@animal-store/client';

const baseURL = 'http://localhost:3000';
const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL });

// Store it after each poll. A cursor is undefined for the first page.
interface State {
  start?: string | undefined; // the page that the next poll begins at
  seen: bigint[]; // the animals from that page on
  last?: string | undefined; // the last page of an earlier poll
  endedAt: number;
}

async function poll({ start, seen, last, endedAt }: State): Promise<{ pets: Pet[]; state: State }> {
  const all: Pet[] = [];
  let cursor = start;
  let isLast = false;
  while (!isLast) {
    const page = await client.pets.list({ limit: 2, ...(cursor && { cursor }) }).withResponse();
    all.push(...page.data.data);
    const next = /<([^>]*)>; rel="next"/.exec(page.response.headers.get('Link') ?? '')?.[1];
    if (next) cursor = new URL(next, baseURL).searchParams.get('cursor') ?? undefined;
    isLast = !next;
  }
  const pets = all.filter(({ id }) => !seen.includes(id));
  const state = { start, seen: all.map(({ id }) => id), last, endedAt };
  const isOld = Date.now() - endedAt > 60_000;
  return { pets, state: isOld ? { ...state, start: last, last: cursor, endedAt: Date.now() } : state };
}

let state: State = { seen: [], endedAt: 0 };
for (let count = 1; count <= 2; count++) {
  const result = await poll(state);
  state = result.state;
  console.log(`${result.pets.length} new animals`);
}
