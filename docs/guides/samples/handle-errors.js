const response = await fetch('http://localhost:3000/v1/pets?limit=0', {
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
if (!response.ok) {
  const { status } = response;
  // The body of a proxy's error may not be JSON.
  const error = await response.json().catch(() => undefined);
  console.log(status, error?.code ?? 'no code', [408, 429, 500, 502, 503, 504].includes(status) ? 'retry' : 'do not retry');
}
