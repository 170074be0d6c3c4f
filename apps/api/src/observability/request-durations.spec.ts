import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { RequestDurations } from './request-durations.js';

const BOUNDS = [0.001, 0.01, 1];

it('tells what the histogram of prom-client tells', async () => {
  const observation = fc.record({
    operation: fc.constantFrom('listPets', 'none'),
    status: fc.constantFrom(200, 404),
    seconds: fc.oneof(fc.constantFrom(...BOUNDS, 0, 2), fc.double({ min: 0, max: 2, noNaN: true })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(observation, { maxLength: 30 }), async (observations) => {
      const registries = [new Registry(), new Registry()] as const;
      const durations = new RequestDurations(BOUNDS);
      durations.registerIn(registries[0]);
      const { name, help } = durations;
      const histogram = new Histogram({ name, help, labelNames: ['operation', 'status'], buckets: BOUNDS, registers: [registries[1]] });
      for (const { operation, status, seconds } of observations) {
        durations.observe(operation, status, seconds);
        histogram.observe({ operation, status }, seconds);
      }
      const [ours, theirs] = await Promise.all(registries.map((registry) => registry.metrics()));
      expect(ours?.split('\n').toSorted()).toEqual(theirs?.split('\n').toSorted());
      const [ourJson, theirJson] = await Promise.all(registries.map((registry) => Registry.merge([registry]).getMetricsAsJSON()));
      expect(ourJson?.map(({ name: metric, type }) => [metric, type])).toEqual(theirJson?.map(({ name: metric, type }) => [metric, type]));
    }),
  );
});
