import { expect, it } from '@jest/globals';
import { describeClock, describeLag, describeRoom, describeVersion, examine } from './database-checks.js';

it.each([
  ['TLS with the server failed: self-signed certificate', 'correct the certificate of the server'],
  ['no pg_hba.conf entry for host "192.0.2.1", user "x", database "y", no encryption', 'add sslmode=verify-full to the URL'],
  ['no pg_hba.conf entry for host "192.0.2.1", user "x", database "y", SSL encryption', 'the fix of the check'],
])('the first fix of "%s" is "%s"', async (message, fix) => {
  const found = await examine('database', ['the fix of the check'], () => Promise.reject(new Error(`${message}.`)), ', so it waits');
  expect(found).toMatchObject({
    check: 'database',
    status: 'error',
    found: `${message}, so it waits`,
    fixes: expect.arrayContaining([fix]),
  });
});

it.each([
  [150000, { status: 'ok', found: 'PostgreSQL 15.0' }],
  [180004, { status: 'ok', found: 'PostgreSQL 18.4' }],
  [149999, { status: 'error', fixes: ['upgrade to a version from 15 to 18'] }],
  [190000, { status: 'warning', found: 'PostgreSQL 19.0 is not tested with this release', fixes: ['use a version from 15 to 18'] }],
])('the version %d of PostgreSQL is %j', (version, outcome) => {
  expect(describeVersion(version)).toMatchObject(outcome);
});

it('a replica that lags is a warning', () => {
  expect(describeLag(0n)).toEqual({ status: 'ok', found: 'up to date', fixes: [] });
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

const limit = (maximum: number, usedByOthers = 0, name = 'max_connections') => ({ name, maximum, usedByOthers });

it.each([
  ['no limit', [], { status: 'ok', found: 'the service opens up to 10 connections' }],
  ['no limit of the role', [limit(-1)], { status: 'ok', found: 'the service opens up to 10 connections' }],
  ['a limit of 0', [limit(0)], { status: 'error' }],
  ['9 in all', [limit(9)], { status: 'error' }],
  ['10 in all', [limit(10)], { status: 'warning', found: expect.stringMatching(/are free: too few for old and new/) }],
  ['19 in all', [limit(19)], { status: 'warning' }],
  ['20 in all', [limit(20)], { status: 'ok', found: expect.stringMatching(/max_connections allows 20, of which 20 are free$/) }],
  ['9 free', [limit(30, 21)], { status: 'warning', found: expect.stringMatching(/of which 9 are free: requests wait for connections$/) }],
  ['10 free', [limit(30, 20)], { status: 'warning', found: expect.stringMatching(/of which 10 are free: too few/) }],
  [
    'a larger limit that is fuller',
    [limit(50, 10), limit(200, 170, 'larger')],
    { found: expect.stringMatching(/larger allows 200, of which 30 are free$/) },
  ],
  [
    'a limit that is always too low, and one that is fuller at present',
    [limit(100, 95), limit(9, 0, 'lower')],
    { status: 'error', found: expect.stringMatching(/lower allows 9, of which 9 are free: requests wait for connections$/) },
  ],
  ['20 free, and fewer of another limit', [limit(50, 30), limit(25, 10, 'other')], { found: expect.stringMatching(/other allows 25/) }],
])('with %s, 10 connections are %j', (_what, limits, outcome) => {
  expect(describeRoom('10 connections', 10, limits)).toMatchObject(outcome);
});
