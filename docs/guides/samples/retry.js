import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRYABLE = [408, 429, 500, 502, 503, 504];

async function createPet(pet, attempts = 5) {
  const request = {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${process.env.API_KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(), // the same for all attempts
    },
    body: JSON.stringify(pet),
  };
  for (let attempt = 1; ; attempt++) {
    const response = await fetch('http://localhost:3000/v1/pets', {
      ...request,
      signal: AbortSignal.timeout(10_000),
    }).catch((error) => {
      if (attempt === attempts) throw error;
    });
    if (response?.ok) return response.json();
    if (response && (attempt === attempts || !RETRYABLE.includes(response.status))) {
      throw new Error(await response.text());
    }
    const backoff = Math.random() * 2 ** attempt;
    await sleep(1000 * Math.max(backoff, Number(response?.headers.get('Retry-After') ?? 0)));
  }
}

const pet = await createPet({ name: 'Rex', categoryId: 7 });
console.log(`${pet.name} was added`);
