const response = await fetch('http://localhost:3000/v1/pets?limit=0', {
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
if (!response.ok) {
  const { code, status } = await response.json();
  console.log(status, code, [408, 429, 500, 502, 503, 504].includes(status) ? 'retry' : 'do not retry');
}
