import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { confirm } from './confirm.js';

it.each([
  ['y\n', true],
  ['YES\n', true],
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
