const response = await fetch('http://localhost:3000/v1/pets', {
  headers: { Authorization: `Bearer ${process.env.API_KEY}` },
});
console.log(response.ok);
