import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readSecretUrl, splitUrls } from './secret-url.js';

const file = join(tmpdir(), randomUUID());
afterEach(() => rmSync(file, { force: true }));

it('URLs are separated by commas', () => {
  expect(splitUrls('postgres://a,b/x')).toEqual(['postgres://a,b/x']);
  expect(splitUrls(' postgres://a\r\n')).toEqual(['postgres://a']);
  expect(splitUrls('postgres://a,b/x ,\n postgres://c:1,d/x,rediss://e')).toEqual(['postgres://a,b/x', 'postgres://c:1,d/x', 'rediss://e']);
});

describe('readSecretUrl', () => {
  it('returns a URL without the white space around it, like a file', () => {
    for (const text of ['postgres://a', ' postgres://a \t', 'postgres://a\n', 'postgres://a\r\n', '\ufeffpostgres://a'])
      expect(readSecretUrl(text)).toBe('postgres://a');
  });

  it('reads the file again each time, without the white space around the URL', () => {
    for (const url of ['postgres://a', 'postgres://b']) {
      writeFileSync(file, ` ${url}\n`);
      expect(readSecretUrl({ file })).toBe(url);
    }
  });

  it('returns the URL with the index', () => {
    writeFileSync(file, 'postgres://a/x, postgres://c/x\n');
    expect([0, 1].map((index) => readSecretUrl({ file, index }))).toEqual(['postgres://a/x', 'postgres://c/x']);
    expect(() => readSecretUrl({ file, index: 2 })).toThrow(`cannot be read: ${file} contains fewer URLs than before`);
  });

  it.each(['', ' \n', '\ufeff'])('fails if the file contains only %j', (text) => {
    writeFileSync(file, text);
    expect(() => readSecretUrl({ file })).toThrow(`cannot be read: ${file} is empty`);
  });

  it('fails with the reason if the file cannot be read', () => {
    expect(() => readSecretUrl({ file })).toThrow(`cannot be read: ENOENT: no such file or directory, open '${file}'`);
  });
});
