import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  crc32,
  environmentOf,
  generateApiKeySecret,
  isApiKeySecret,
  isKeyEnvironment,
  type KeyEnvironment,
  prefixOf,
  redactKeys,
  withChecksum,
} from './api-key-secret.js';

const environment = fc.stringMatching(/^[a-z][a-z0-9]{0,19}$/) as fc.Arbitrary<KeyEnvironment>;

describe('an API key', () => {
  it('has the published format, and its prefix contains its environment', () => {
    fc.assert(
      fc.property(environment, (name) => {
        const made = generateApiKeySecret(name);
        expect(made).toMatch(new RegExp(`^ast_${name}_[0-9A-Za-z]{49}$`));
        expect(isApiKeySecret(made)).toBe(true);
        expect(prefixOf(made)).toBe(made.slice(0, `ast_${name}_`.length + 6));
        expect(environmentOf(prefixOf(made))).toBe(name);
      }),
    );
  });

  it('is rejected with text before or after it, even if the checksum matches', () => {
    const unchecked = generateApiKeySecret('local' as KeyEnvironment).slice(0, -6);
    expect(isApiKeySecret(withChecksum(unchecked))).toBe(true);
    for (const wrong of ['', `x${unchecked}`, `${unchecked}0`, unchecked.slice(0, -1)])
      expect(isApiKeySecret(withChecksum(wrong))).toBe(false);
    expect(isApiKeySecret(`${withChecksum(unchecked)}\n`)).toBe(false);
  });

  it('is rejected if any character is changed', () => {
    const made = generateApiKeySecret('local' as KeyEnvironment);
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ \0äĀ🐕';
    for (let i = 0; i < made.length; i++) {
      for (const other of alphabet) {
        if (other !== made[i]) expect(isApiKeySecret(made.slice(0, i) + other + made.slice(i + 1))).toBe(false);
      }
    }
  });

  it('is different each time', () => {
    const made = Array.from({ length: 1000 }, () => generateApiKeySecret('local' as KeyEnvironment));
    // Every position of the random part after the first has many values, so none is constant.
    for (let i = 'ast_local_'.length + 1; i < 'ast_local_'.length + 43; i++) {
      expect(new Set(made.map((text) => text[i])).size).toBeGreaterThan(50);
    }
  });
});

// The check value of CRC-32/ISO-HDLC and two other published examples.
it.each([
  ['', 0],
  ['123456789', 0xcbf43926],
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('the CRC-32 of %j', (text, checksum) => expect(crc32(text)).toBe(checksum));

describe('the environment of a key', () => {
  it.each(['local', 'production', 'a', 'eu2', 'a'.repeat(20)])('may be %j', (name) => expect(isKeyEnvironment(name)).toBe(true));
  it.each(['', '2eu', 'Local', 'a_b', 'a-b', 'ä', ' a', 'a\n', 'a'.repeat(21)])('is not %j', (name) =>
    expect(isKeyEnvironment(name)).toBe(false),
  );
});

describe('redactKeys', () => {
  const key = generateApiKeySecret('test' as KeyEnvironment);
  const redacted = `${prefixOf(key)}…`;

  it('truncates a key to its prefix', () => {
    expect(redactKeys(`Bearer ${key}, "${key}"`)).toBe(`Bearer ${redacted}, "${redacted}"`);
    expect(redactKeys(`a broken key ${key.slice(0, -1)}`)).toBe(`a broken key ${redacted}`);
  });

  it.each(['', 'key=', '"', '/', '\\n', '\\u0041', '%3D', 'é'])('truncates a broken key after %j', (before) => {
    expect(redactKeys(`${before}${key.slice(0, -1)}`)).toBe(`${before}${redacted}`);
  });

  it.each(['Bearer', 'KEY_', '1', 'last_broadcast_'])('truncates a whole key after %j', (before) => {
    expect(redactKeys(`${before}${key} ${before}${key}x`)).toBe(`${before}${redacted} ${before}${redacted}x`);
  });

  it.each([
    ...['', 'ast_', prefixOf(key), redacted, 'last_name_of_somebody', 'last_seen_timestamp', 'breakfast_menu_1234567'],
    ...['last_seen_timestamp=1,fast_menu_1234567', `last_commit_${'0123456789abcdef'.repeat(4)}`],
  ])('leaves %j unchanged', (text) => expect(redactKeys(text)).toBe(text));
});
