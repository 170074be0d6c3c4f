import { join } from 'node:path';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { ResponseRules } from './response-rules.js';
import { sendAndCheck, FuzzFinding } from './send-and-check.js';
import type { FuzzedService } from './fuzzed-service.js';
import { hostileInput } from './hostile-input.js';

const OPENAPI = join(import.meta.dirname, '../../../../../docs/openapi.json');
/** Number of inputs that are sent at the same time. */
const BATCH_SIZE = 32;

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
}

/** Sends at least `requests` hostile requests and returns their number. Throws at the first violation, with the input and its seed. */
export async function fuzz({ target, countSmuggled }: FuzzedService, { requests, seed }: FuzzOptions): Promise<number> {
  const rules = new ResponseRules(OPENAPI);
  let sent = 0;
  for (let batch = 0; sent < requests; batch++) {
    const property = fc.asyncProperty(fc.array(hostileInput, { minLength: BATCH_SIZE, maxLength: BATCH_SIZE }), async (inputs) => {
      const counts = await Promise.all(inputs.map((input) => sendAndCheck(target, rules, input)));
      sent += counts.reduce((total, count) => total + count, 0);
      if ((await countSmuggled()) > 0)
        throw new FuzzFinding(
          'bytes that are not a request were processed as a request',
          inputs.filter(({ kind }) => kind === 'raw'),
        );
    });
    const { failed, errorInstance } = await fc.check(property, { seed: seed + batch, numRuns: 1, endOnFailure: true });
    if (failed) throw new Error(`seed ${String(seed + batch)}: ${String(errorInstance)}`);
  }
  return sent;
}

/** Expects that the service is ready and has logged no error. */
export async function expectHealthy({ target, problems }: FuzzedService): Promise<void> {
  const health = await fetch(`http://127.0.0.1:${String(target.port)}/health/ready`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  expect(problems).toEqual([]);
}
