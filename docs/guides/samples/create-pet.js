const response = await fetch('http://localhost:3000/v1/pets', {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${process.env.API_KEY}`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({ name: 'Rex', categoryId: 7 }),
});
if (!response.ok) throw new Error(await response.text());
const pet = await response.json();
console.log(`${pet.name} is ${pet.status}`);
