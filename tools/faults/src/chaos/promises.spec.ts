import { describe, expect, it } from '@jest/globals';
import { Observations } from './load.js';
import { promisesBrokenByFault, promisesBrokenByOverload } from './promises.js';

const DROPPED = ['a', 'b', 'c', 'd'];
const fault = { name: 'database stopped', recoversWithinMs: 2_000 };
const kept = { recoveryMs: 1_999, seen: { dropped: [] as string[] }, isRunning: true };

describe('a fault', () => {
  it('breaks no promise if all are kept', () => {
    expect(promisesBrokenByFault(fault, kept, true)).toEqual([]);
    expect(promisesBrokenByFault({ name: 'kill -9' }, { ...kept, recoveryMs: 29_000 }, true)).toEqual([]);
  });

  it.each([
    [{ recoveryMs: undefined }, 'no recovery'],
    [{ recoveryMs: 2_000.6 }, 'recovered after 2001 ms instead of within 2000 ms'],
    [{ seen: { dropped: DROPPED } }, '4 requests got no response (a; b; c)'],
    [{ isRunning: false }, 'the service exited'],
  ])('breaks a promise with %o', (outcome, problem) => {
    expect(promisesBrokenByFault(fault, { ...kept, ...outcome }, true)).toEqual([`database stopped: ${problem}`]);
  });

  it('breaks no promise by slow recovery unless the run is strict', () => {
    expect(promisesBrokenByFault(fault, { ...kept, recoveryMs: 20_000 }, false)).toEqual([]);
  });
});

describe('an overload', () => {
  const observations = ({ ms = 1_500, dropped = [] as string[] } = {}) => Object.assign(new Observations(), { acceptedMs: [ms], dropped });

  it('breaks no promise if accepted requests get a fast response', () => {
    expect(promisesBrokenByOverload('flood', observations(), observations(), true)).toEqual([]);
    expect(promisesBrokenByOverload('flood', observations({ ms: 9_000 }), observations(), false)).toEqual([]);
  });

  it('breaks promises by late and missing responses', () => {
    expect(
      promisesBrokenByOverload('flood', observations({ ms: 1_501, dropped: ['a', 'b'] }), observations({ dropped: ['c'] }), true),
    ).toEqual([
      'flood: other clients: 1 requests got no response (c)',
      'flood: accepted requests took 1501 ms at p99',
      'flood: 2 requests got no response (a; b)',
    ]);
  });
});
