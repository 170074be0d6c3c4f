import { describe, expect, it } from '@jest/globals';
import { generateApiKeySecret, type KeyEnvironment, prefixOf } from './api-key-secret.js';
import { redactKeys } from './redact-keys.js';

const key = generateApiKeySecret('test' as KeyEnvironment);
const redacted = `${prefixOf(key)}…`;

describe('redactKeys', () => {
  it('truncates a key to its prefix', () => {
    expect(redactKeys(`Bearer ${key}, "${key}"`)).toBe(`Bearer ${redacted}, "${redacted}"`);
    expect(redactKeys(`a broken key ${key.slice(0, -1)}`)).toBe(`a broken key ${redacted}`);
  });

  it('leaves any other text unchanged', () => {
    for (const text of ['', 'ast_', 'last_name_of_somebody', prefixOf(key), redacted]) expect(redactKeys(text)).toBe(text);
  });
});
