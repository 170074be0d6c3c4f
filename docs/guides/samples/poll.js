const FIRST_PAGE = 'http://localhost:3000/v1/pets?limit=2';

async function poll({ start, seen, last, endedAt }) {
  const all = [];
  let page;
  for (let url = start; url;) {
    page = url;
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${process.env.API_KEY}` },
    });
    if (!response.ok) throw new Error(await response.text());
    all.push(...(await response.json()));
    const next = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link') ?? '');
    url = next && new URL(next[1], url).href;
  }
  const pets = all.filter(({ id }) => !seen.includes(id));
  const state = { start, seen: all.map(({ id }) => id), last, endedAt };
  const isOld = Date.now() - endedAt > 60_000;
  return { pets, state: isOld ? { ...state, start: last, last: page, endedAt: Date.now() } : state };
}

// Store the state after each poll: the page to begin at, the animals from there on,
// and the last page of an earlier poll.
let state = { start: FIRST_PAGE, seen: [], last: FIRST_PAGE, endedAt: 0 };
for (let count = 1; count <= 2; count++) {
  const result = await poll(state);
  state = result.state;
  console.log(`${result.pets.length} new animals`);
}
