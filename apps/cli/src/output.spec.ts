import { describe, expect, it } from '@jest/globals';
import { toJson, toList } from './output.js';

const expiresAt = new Date('2026-11-21T12:00:00.999Z');

describe('output', () => {
  it('writes exact integers and UTC dates as JSON', () => {
    const text = toJson({ id: 9223372036854775807n, at: expiresAt, none: null });
    expect(text.replace(/\s/g, '')).toBe('{"id":9223372036854775807,"at":"2026-11-21T12:00:00.999Z","none":null}');
  });

  it('shows a time that JavaScript cannot represent, rather than null or an error', () => {
    const rows = [{ expiresAt: new Date(NaN), none: null }];
    expect(toList('keys', rows, { json: true }).replace(/\s/g, '')).toBe('[{"expiresAt":"unreadable","none":null}]');
    expect(toList('keys', rows, {})).toBe('EXPIRES AT  NONE\nunreadable  -\n');
  });

  it('shows members in columns', () => {
    const rows = [
      { id: 1n, expiresAt, scopes: ['a:b', 'c:d'], details: { from: null, to: 7 } },
      { id: 12n, expiresAt: null, scopes: [], details: {} },
    ];
    expect(toList('keys', rows, {})).toBe(
      'ID  EXPIRES AT            SCOPES   DETAILS\n1   2026-11-21T12:00:00Z  a:b c:d  from=null to=7\n12  -                              -\n',
    );
    expect(toList('clients', [], {})).toBe('No clients.\n');
  });

  it('escapes control characters, which a terminal would interpret', () => {
    expect(toList('clients', [{ name: '\u001b[2J\n' }], {})).toBe('NAME\n\\x1b[2J\\x0a\n');
  });
});
