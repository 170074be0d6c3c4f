const response = await fetch('http://localhost:3000/v1/pets', {
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
if (!response.ok) throw new Error(await response.text());
const pets = await response.json();
console.log(`${pets.length} animals`);
