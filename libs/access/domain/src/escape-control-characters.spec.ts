import { expect, it } from '@jest/globals';
import { generateApiKeySecret, type KeyEnvironment, prefixOf } from './api-key-secret.js';
import { escapeControlCharacters, sanitiseForTerminal } from './escape-control-characters.js';

const codes = Array.from({ length: 0x101 }, (_, code) => code);
const isControl = (code: number) => code <= 0x1f || (code >= 0x7f && code <= 0x9f);

it('escapes only C0, DEL and C1', () => {
  const changed = codes.filter((code) => escapeControlCharacters(String.fromCharCode(code)) !== String.fromCharCode(code));
  expect(changed).toEqual(codes.filter(isControl));
  expect(escapeControlCharacters('a\u001b[31mb\u009b2J\nRex 🐕')).toBe(String.raw`a\x1b[31mb\x9b2J\x0aRex 🐕`);
});

it('keeps the lines of a text for a terminal and redacts its keys', () => {
  const key = generateApiKeySecret('test' as KeyEnvironment);
  expect(sanitiseForTerminal(`Error: ${key}\r\n  at \u001b[2J`)).toBe(
    `Error: ${prefixOf(key)}…${String.raw`\x0d`}\n  at ${String.raw`\x1b[2J`}`,
  );
});
