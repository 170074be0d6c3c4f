import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { ifThere } from './if-there.js';

it('gives what is read, undefined for what is not there, and the error of what cannot be read', async () => {
  expect(await ifThere(readFile(import.meta.filename, 'utf8'))).toContain('ifThere');
  expect(await ifThere(readFile(join(import.meta.dirname, 'missing')))).toBeUndefined();
  await expect(ifThere(readFile(import.meta.dirname))).rejects.toMatchObject({ code: 'EISDIR' });
});
