let url = 'http://localhost:3000/v1/pets?limit=2';
while (url) {
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${process.env.API_KEY}` },
  });
  if (!response.ok) throw new Error(await response.text());
  for (const pet of await response.json()) console.log(pet.name);

  const [, next] = /<([^>]*)>; rel="next"/.exec(response.headers.get('Link')) ?? [];
  url = next && new URL(next, url).href;
}
