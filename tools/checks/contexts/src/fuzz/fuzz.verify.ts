import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectHealthy, fuzz } from './fuzz.js';
import { type BuiltFuzzedService, startBuilt } from './fuzzed-service.js';

// `npm run verify -- fuzz`: random requests, reproducible with FUZZ_SEED.
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 100_000);
const WITHIN_MS = 15 * 60_000;
const MIB = 2 ** 20;
/** A service that leaks a kilobyte per request exceeds this. */
const MAX_MEMORY_MIB = 384;

/** The service, and the app of an example with a second context. */
const PROGRAMS = ['apps/api/dist/main.js', 'examples/visits/app/dist/main.js'];

describe.each(PROGRAMS)('%s', (program) => {
  let service: BuiltFuzzedService;

  beforeAll(async () => {
    if (!(REQUESTS > 0)) throw new Error('FUZZ_REQUESTS must be a positive integer');
    service = await startBuilt(program);
  });

  afterAll(() => service.stop());

  it(
    'survives hostile requests to every operation, and its memory does not grow',
    async () => {
      const sent = await fuzz(service, { requests: REQUESTS, seed: SEED });
      await expectHealthy(service);
      const memory = Math.round(service.memory() / MIB);
      console.log(`${String(sent)} requests from seed ${String(SEED)} on; resident memory at the end: ${String(memory)} MiB`);
      expect(memory).toBeLessThan(MAX_MEMORY_MIB);
    },
    WITHIN_MS,
  );
});
