import { expectHealthy, fuzz } from './fuzz.js';
import { type FuzzedService, startInProcess } from './fuzzed-service.js';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

// A fixed seed; `npm run verify -- fuzz` uses random ones.
const SEED = 1;
const REQUESTS = 500;

let service: FuzzedService;

beforeAll(async () => {
  service = await startInProcess();
});

afterAll(() => service.stop());

it('responds to hostile requests as documented, and remains ready without errors', async () => {
  expect(await fuzz(service, { requests: REQUESTS, seed: SEED })).toBeGreaterThanOrEqual(REQUESTS);
  await expectHealthy(service);
});
