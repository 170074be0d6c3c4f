import { expect, it } from '@jest/globals';
import { describeClock, describeLag, describeVersion } from './database-checks.js';

it.each([
  [150000, { status: 'ok', found: 'PostgreSQL 15.0' }],
  [180004, { status: 'ok', found: 'PostgreSQL 18.4' }],
  [149999, { status: 'error', action: 'upgrade to a version from 15 to 18' }],
  [190000, { status: 'warning', found: 'PostgreSQL 19.0 is not tested with this release', action: 'use a version from 15 to 18' }],
])('the version %d of PostgreSQL is %j', (version, outcome) => {
  expect(describeVersion(version)).toMatchObject(outcome);
});

it('a replica that lags is a warning', () => {
  expect(describeLag(0n)).toEqual({ status: 'ok', found: 'up to date' });
  expect(describeLag(75_128n)).toMatchObject({ status: 'warning', found: '75128 bytes of WAL behind the primary' });
});

it.each([
  ['ahead', 0, { status: 'ok' }, 999],
  ['ahead', 0, { status: 'warning', found: 'the clock of this machine is 1000 ms ahead of the database' }, 1_000],
  ['behind', 0, { status: 'warning', found: 'the clock of this machine is 4999 ms behind the database' }, -4_999],
  ['behind', 0, { status: 'error' }, -5_000],
  ['ahead, within half of the response time', 4_000, { status: 'ok' }, 2_999],
  ['ahead, beyond half of the response time', 4_000, { status: 'warning' }, 3_000],
])('a clock that is %s, with a response after %d ms, is %j', (_what, responseMs, outcome, skewMs) => {
  expect(describeClock(skewMs, responseMs / 2, skewMs + responseMs)).toMatchObject(outcome);
});
