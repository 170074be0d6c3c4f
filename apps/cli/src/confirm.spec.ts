import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { confirm } from './confirm.js';

it.each([
  ['y\n', true],
  ['YES\n', true],
  [' yes \n', true],
  ['\n', false],
  ['n\n', false],
  ['yesterday\n', false],
  // Ctrl-D
  ['', false],
])('%j means %s', async (answer, expected) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answered = confirm(input, output, 'Sure?');
  input.end(answer);
  expect(await answered).toBe(expected);
  output.end();
  expect(await text(output)).toContain('Sure? [y/N] ');
});

it('stops reading after the answer', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answered = confirm(input, output, 'Sure?');
  input.write('y\n');
  expect(await answered).toBe(true);
  expect(input.isPaused()).toBe(true);
  expect(input.listenerCount('end')).toBe(0);
});
