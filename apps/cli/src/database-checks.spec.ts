import { expect, it } from '@jest/globals';
import { describeLag, describeVersion } from './database-checks.js';

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
