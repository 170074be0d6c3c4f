const response = await fetch('http://localhost:3000/v1/pets?status=available&limit=100', {
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
if (!response.ok) throw new Error(await response.text());
for (const pet of await response.json()) {
  console.log(pet.name);
}
