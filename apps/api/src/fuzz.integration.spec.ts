import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { expectUnharmed, fuzz } from './testing/fuzz/fuzz.js';
import { type FuzzedService, startInProcess } from './testing/fuzz/fuzzed-service.js';

// The same requests each time; `npm run verify:fuzz` looks for others.
const SEED = 1;
const REQUESTS = 1_000;

let service: FuzzedService;

beforeAll(async () => {
  service = await startInProcess();
});

afterAll(() => service.stop());

it('hostile requests get documented answers of the right shape, and leave the service unharmed', async () => {
  expect(await fuzz(service, { requests: REQUESTS, seed: SEED })).toBeGreaterThanOrEqual(REQUESTS);
  await expectUnharmed(service);
});
