import { setTimeout as sleep } from 'node:timers/promises';

const RETRYABLE = [408, 429, 500, 502, 503, 504];

async function createPet(pet, key, attempts = 5) {
  const request = {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${process.env.API_KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    },
    body: JSON.stringify(pet),
  };
  for (let attempt = 1; ; attempt++) {
    let delay = Math.random() * 2 ** attempt;
    let isRetryable = true;
    let failure;
    try {
      const response = await fetch('http://localhost:3000/v1/pets', { ...request, signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      if (response.ok) return JSON.parse(text);
      failure = new Error(`${response.status} ${text}`);
      isRetryable = RETRYABLE.includes(response.status);
      delay = Math.max(delay, secondsOf(response.headers.get('Retry-After')));
    } catch (error) {
      failure = error; // no complete response
    }
    if (!isRetryable || attempt >= attempts) throw failure;
    await sleep(1000 * delay);
  }
}

// A proxy may send a date instead of seconds.
function secondsOf(retryAfter) {
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return seconds || 0;
}

// Your record 4711 has the same key in each run of the program.
const pet = await createPet({ name: 'Rex', categoryId: 7 }, 'import-4711');
console.log(`${pet.name} was added`);
