import { describe, expect, it } from '@jest/globals';
import { Observations } from './load.js';
import { brokenByFault, brokenByOverload } from './promises.js';

const DROPPED = ['a', 'b', 'c', 'd'];
const fault = { name: 'database stopped', recoversWithinMs: 2_000 };
const kept = { recoveryMs: 1_999, seen: { dropped: [] as string[] }, isRunning: true };

describe('a fault', () => {
  it('breaks no promise if all are kept', () => {
    expect(brokenByFault(fault, kept, true)).toEqual([]);
    expect(brokenByFault({ name: 'kill -9' }, { ...kept, recoveryMs: 29_000 }, true)).toEqual([]);
  });

  it.each([
    [{ recoveryMs: undefined }, 'no recovery'],
    [{ recoveryMs: 2_000.6 }, 'recovered after 2001 ms instead of 2000'],
    [{ seen: { dropped: DROPPED } }, '4 requests got no answer (a; b; c)'],
    [{ isRunning: false }, 'the service has ended'],
  ])('breaks a promise with %o', (outcome, problem) => {
    expect(brokenByFault(fault, { ...kept, ...outcome }, true)).toEqual([`database stopped: ${problem}`]);
  });

  it('breaks no promise by its times unless the run is strict', () => {
    expect(brokenByFault(fault, { ...kept, recoveryMs: 20_000 }, false)).toEqual([]);
  });
});

describe('an overload', () => {
  const observations = ({ ms = 1_500, dropped = [] as string[] } = {}) => Object.assign(new Observations(), { acceptedMs: [ms], dropped });

  it('breaks no promise if accepted requests get a fast response', () => {
    expect(brokenByOverload('flood', observations(), observations(), true)).toEqual([]);
    expect(brokenByOverload('flood', observations({ ms: 9_000 }), observations(), false)).toEqual([]);
  });

  it('breaks a promise by late and by missing responses', () => {
    expect(brokenByOverload('flood', observations({ ms: 1_501, dropped: ['a', 'b'] }), observations({ dropped: ['c'] }), true)).toEqual([
      'flood: of others, 1 requests got no answer (c)',
      'flood: accepted requests took 1501 ms at p99',
      'flood: 2 requests got no answer (a; b)',
    ]);
  });
});
