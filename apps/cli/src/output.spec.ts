import { describe, expect, it } from '@jest/globals';
import { formatTime, toJson, toTable } from './output.js';

describe('output', () => {
  it('writes exact integers and UTC dates as JSON', () => {
    const text = toJson({ id: 9223372036854775807n, at: new Date('2026-11-21T12:00:00.123Z'), none: null });
    expect(text.replace(/\s/g, '')).toBe('{"id":9223372036854775807,"at":"2026-11-21T12:00:00.123Z","none":null}');
  });

  it('shows a time that JavaScript cannot represent, rather than null or an error', () => {
    expect(toJson([{ expiresAt: new Date(NaN), none: null }]).replace(/\s/g, '')).toBe('[{"expiresAt":"unreadable","none":null}]');
    expect(formatTime(new Date(NaN))).toBe('unreadable');
  });

  it('aligns columns', () => {
    const columns = { ID: ([id]: string[]) => id ?? '', CLIENT: ([, client]: string[]) => client ?? '' };
    const rows = [
      ['1', 'acme'],
      ['12', 'b'],
    ];
    expect(toTable('clients', rows, columns)).toBe('ID  CLIENT\n1   acme\n12  b\n');
    expect(toTable('clients', [['\u001b[2J\n', '']], columns)).toBe('ID           CLIENT\n\\x1b[2J\\x0a\n');
    expect(toTable('clients', [], columns)).toBe('No clients.\n');
  });

  it('shows times to the second', () => expect(formatTime(new Date('2026-11-21T12:00:00.999Z'))).toBe('2026-11-21T12:00:00Z'));
});
