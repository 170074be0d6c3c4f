const url = 'http://localhost:3000/v1/pets?status=available';
const headers = { Authorization: `Bearer ${process.env.API_KEY}` };

const first = await fetch(url, { headers });
if (!first.ok) throw new Error(await first.text());
let pets = await first.json();

const second = await fetch(url, {
  headers: { ...headers, 'If-None-Match': first.headers.get('ETag') },
});
if (second.status === 304) {
  console.log('unchanged');
} else {
  if (!second.ok) throw new Error(await second.text());
  pets = await second.json();
  console.log('changed');
}
