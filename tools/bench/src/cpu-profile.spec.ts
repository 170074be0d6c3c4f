import { expect, it } from '@jest/globals';
import { selfTimes } from './cpu-profile.js';

const frame = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url, lineNumber: 9 } });

const profile = {
  nodes: [
    frame(1, '(idle)'),
    frame(2, 'parse', 'file:///srv/store/node_modules/pg-protocol/dist/parser.js'),
    frame(3, '', 'file:///srv/store/libs/pets/http/dist/pets.controller.js'),
    frame(4, 'parse', 'file:///srv/store/node_modules/pg-protocol/dist/parser.js'),
    frame(5, 'writev'),
  ],
  samples: [1, 2, 3, 4, 5],
  timeDeltas: [9_000, 1_000, 2_500, 3_000, 1_500],
};

it('adds up the time of each function, without idle time', () => {
  expect(selfTimes(profile, 1_000)).toEqual([
    { name: 'parse pg-protocol/dist/parser.js:10', ms: 4, share: 0.5 },
    { name: '(anonymous) libs/pets/http/dist/pets.controller.js:10', ms: 2.5, share: 0.3125 },
    { name: 'writev', ms: 1.5, share: 0.1875 },
  ]);
});

it('reads only the end of the profile', () => {
  expect(selfTimes(profile, 3).map(({ name, ms }) => [name, ms])).toEqual([
    ['parse pg-protocol/dist/parser.js:10', 3],
    ['writev', 1.5],
  ]);
});
