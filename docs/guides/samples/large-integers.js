// JSON.rawJSON and the third argument of the reviver require Node.js 22 or a current browser.
const toJson = (value) => JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member));
const fromJson = (text) => JSON.parse(text, (key, value, { source }) => (key === 'id' || key === 'categoryId' ? BigInt(source) : value));

const response = await fetch('http://localhost:3000/v1/pets', {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${process.env.API_KEY}`,
    'Content-Type': 'application/json',
  },
  body: toJson({ name: 'Rex', categoryId: 9007199254740993n }),
});
if (!response.ok) throw new Error(await response.text());
const pet = fromJson(await response.text());
console.log(String(pet.categoryId));
