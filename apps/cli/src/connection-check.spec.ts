import { expect, it } from '@jest/globals';
import { describeRoom } from './connection-check.js';

const limit = (maximum: number, usedByOthers = 0, name = 'max_connections') => ({ name, maximum, usedByOthers });

it.each([
  ['no limit', [], { status: 'ok', found: 'the service opens up to 10 connections' }],
  ['no limit of the role', [limit(-1)], { status: 'ok', found: 'the service opens up to 10 connections' }],
  ['a limit of 0', [limit(0)], { status: 'error' }],
  ['9 in all', [limit(9)], { status: 'error' }],
  ['10 in all', [limit(10)], { status: 'warning', found: expect.stringMatching(/are free: too few for old and new/) }],
  ['19 in all', [limit(19)], { status: 'warning' }],
  ['20 in all', [limit(20)], { status: 'ok', found: expect.stringMatching(/max_connections allows 20, of which 20 are free$/) }],
  ['9 free', [limit(30, 21)], { status: 'warning', found: expect.stringMatching(/of which 9 are free$/) }],
  ['10 free', [limit(30, 20)], { status: 'warning', found: expect.stringMatching(/of which 10 are free: too few/) }],
  ['20 free, and fewer of another limit', [limit(50, 30), limit(25, 10, 'other')], { found: expect.stringMatching(/other allows 25/) }],
])('with %s, 10 connections are %j', (_what, limits, outcome) => {
  expect(describeRoom('10 connections', 10, limits)).toMatchObject(outcome);
});
