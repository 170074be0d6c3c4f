import { expect } from '@jest/globals';
import fc from 'fast-check';
import { ApiDocument } from '../openapi/api-document.js';
import { useOperations } from '../openapi/use-operations.js';
import { ResponseRules } from './response-rules.js';
import { sendAndCheck, FuzzFinding } from './send-and-check.js';
import type { FuzzedService } from './fuzzed-service.js';
import { type HostileInput, hostileInputs } from './hostile-input.js';

/** Number of inputs that are sent at the same time. */
const BATCH_SIZE = 32;

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
}

/**
 * Uses each operation of the service's OpenAPI document once, then sends at least `requests` hostile requests to them and returns their
 * number. Throws at the first violation, with the input and its seed.
 */
export async function fuzz({ target, url, smuggledKey, countSmuggled }: FuzzedService, { requests, seed }: FuzzOptions): Promise<number> {
  const api = await ApiDocument.of(url);
  const used = await useOperations(api, url, target.key);
  expect({ unused: used.unused }).toEqual({ unused: [] });
  const rules = new ResponseRules(api);
  const inputs = hostileInputs(api, used, smuggledKey);
  let sent = 0;
  /** The use of a key is recorded after the response, so the batch before may have caused it. */
  let before: HostileInput[] = [];
  for (let batch = 0; sent < requests; batch++) {
    const property = fc.asyncProperty(fc.array(inputs, { minLength: BATCH_SIZE, maxLength: BATCH_SIZE }), async (chosen) => {
      const counts = await Promise.all(chosen.map((input) => sendAndCheck(target, rules, input)));
      sent += counts.reduce((total, count) => total + count, 0);
      const raw = chosen.filter(({ kind }) => kind === 'raw');
      if ((await countSmuggled()) > 0)
        throw new FuzzFinding('bytes that are not a request were processed as a request', [...before, ...raw]);
      before = raw;
    });
    const { failed, errorInstance } = await fc.check(property, { seed: seed + batch, numRuns: 1, endOnFailure: true });
    if (failed) throw new Error(`seed ${String(seed + batch)}: ${String(errorInstance)}`);
  }
  return sent;
}

/** Expects that the service is ready, has logged no error, and has processed no smuggled request of the last batch. */
export async function expectHealthy({ url, problems, countSmuggled }: FuzzedService): Promise<void> {
  const health = await fetch(`${url}/health/ready`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  expect(problems).toEqual([]);
  expect(await countSmuggled()).toBe(0);
}
