const response = await fetch('http://localhost:3000/v1/pets?id=2', {
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
if (!response.ok) throw new Error(await response.text());
const [pet] = await response.json();
console.log(pet ? pet.name : 'not found');
