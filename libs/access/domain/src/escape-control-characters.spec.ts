import { expect, it } from '@jest/globals';
import { generateApiKeySecret, type KeyEnvironment, prefixOf } from './api-key-secret.js';
import { escapeControlCharacters, sanitiseForTerminal } from './escape-control-characters.js';

it('escapes only C0, DEL and C1, and for a terminal keeps the lines of a text and redacts its keys', () => {
  const characters = Array.from({ length: 0x101 }, (_, code) => String.fromCharCode(code));
  const escaped = characters.filter((character) => escapeControlCharacters(character) !== character);
  expect(escaped.join('')).toMatch(/^\p{Cc}{65}$/u);
  expect(escapeControlCharacters('a\u001b[31mb\u009b2J\nRex 🐕')).toBe(String.raw`a\x1b[31mb\x9b2J\x0aRex 🐕`);
  const key = generateApiKeySecret('test' as KeyEnvironment);
  expect(sanitiseForTerminal(`${key}\r\n  at \u001b[2J`)).toBe(`${prefixOf(key)}…${String.raw`\x0d`}\n  at ${String.raw`\x1b[2J`}`);
});
