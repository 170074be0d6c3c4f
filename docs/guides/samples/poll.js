const FIRST_PAGE = 'http://localhost:3000/v1/pets?limit=100';

// The state before the first poll. Store the state that each poll returns.
const FIRST_STATE = {
  start: FIRST_PAGE, // the page at which the next poll begins
  seen: [], // ids of the animals that the last poll read
  last: FIRST_PAGE, // the last page of an earlier poll, at which a later poll begins
  endedAt: 0, // when this earlier poll ended
};

async function poll({ start, seen, last, endedAt }) {
  const beganAt = Date.now();
  const all = [];
  let page;
  for (let url = start; url;) {
    page = url;
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${process.env.API_KEY}` },
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(await response.text());
    all.push(...(await response.json()));
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '');
    url = next && new URL(next[1], url).href;
  }
  const known = new Set(seen);
  const pets = all.filter(({ id }) => !known.has(id));
  const state = { start, seen: all.map(({ id }) => id), last, endedAt };
  const isOld = beganAt - endedAt > 60_000;
  return { pets, state: isOld ? { ...state, start: last, last: page, endedAt: Date.now() } : state };
}

let state = FIRST_STATE;
for (let count = 1; count <= 2; count++) {
  const result = await poll(state);
  state = result.state;
  console.log(`${result.pets.length} new animals`);
}
