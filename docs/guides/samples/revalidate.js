const url = 'http://localhost:3000/v1/pets?status=available';
const headers = { Authorization: `Bearer ${process.env.API_KEY}` };

const first = await fetch(url, { headers });
let pets = await first.json();

const second = await fetch(url, {
  headers: { ...headers, 'If-None-Match': first.headers.get('ETag') },
});
if (second.status !== 304) pets = await second.json();
console.log(second.status === 304 ? 'unchanged' : 'changed');
