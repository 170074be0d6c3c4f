import { expect, it } from 'vitest';
import { runChaos } from './run-chaos.js';

it('the service keeps its promises while everything around it breaks', { timeout: 60_000 }, async () => {
  const { verdict, problems, phases } = await runChaos({ seed: 1, rounds: 1, outageMs: 1_000, judgeTimes: false, report: () => undefined });
  expect(problems).toEqual([]);
  expect(verdict).toMatchObject({ lost: 0, duplicates: 0 });
  expect(verdict.acknowledged).toBeGreaterThan(50);
  expect(phases).toHaveLength(13);
});
