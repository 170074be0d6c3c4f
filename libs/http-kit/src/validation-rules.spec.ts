import { describe, expect, it } from '@jest/globals';
import { getMetadataStorage, validateSync } from 'class-validator';
import {
  DomainRule,
  IsInt64,
  IsVisibleText,
  MayBeAbsent,
  Nullable,
  QueryInt64,
  QueryInteger,
  QueryTime,
  Rule,
  UtcTime,
} from './validation-rules.js';

const isText = (value: unknown) => typeof value === 'string';

class PageQuery {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class ListQuery extends PageQuery {
  @Rule('must be text', isText)
  text!: string;

  @MayBeAbsent()
  @Rule('must equal the text', (value, query) => value === (query as ListQuery).text)
  copy?: unknown;
}

class NewToy {
  @IsInt64()
  id: unknown = 1n;

  @IsVisibleText(3)
  name: unknown = 'x';
}

class IdQuery {
  @QueryInt64()
  id!: bigint;
}

class TimeQuery {
  @QueryTime()
  from!: Date;
}

class NewParcel {
  @UtcTime()
  due: unknown = new Date(0);

  @Nullable()
  @IsVisibleText(3)
  note: unknown = null;

  @MayBeAbsent()
  @Nullable()
  @IsInt64()
  parentId: unknown;
}

const query = (members: Partial<ListQuery>) => Object.assign(new ListQuery(), { text: 'x' }, members);
const messagesOf = (dto: object) => validateSync(dto).flatMap(({ constraints }) => Object.values(constraints ?? {}));
const messages = (members: Partial<ListQuery>) => messagesOf(query(members));

describe('the rules of a class', () => {
  it.each<[Partial<ListQuery>, string[]]>([
    [{}, []],
    [{ limit: 100, copy: 'x' }, []],
    [{ limit: 1 }, []],
    [{ limit: 0 }, ['limit must be an integer from 1 to 100']],
    [{ limit: 101 }, ['limit must be an integer from 1 to 100']],
    [{ limit: '7' as never }, ['limit must be an integer from 1 to 100']],
    [{ limit: null as never }, ['limit must be an integer from 1 to 100']],
    [{ copy: 'y' }, ['copy must equal the text']],
    [{ copy: null }, ['copy must equal the text']],
    [{ text: 7 as never, copy: 7 }, ['text must be text']],
  ])('are validated by class-validator: %j', (members, expected) => expect(messages(members)).toEqual(expected));

  it.each([
    [{ id: -(2n ** 63n), name: '🐕🐕🐕' }, []],
    [{ id: 2n ** 63n }, ['id must be an integer from -9223372036854775808 to 9223372036854775807']],
    [{ id: 7 }, ['id must be an integer from -9223372036854775808 to 9223372036854775807']],
    [{ id: 2 ** 53 }, [expect.stringMatching(/^id must be an integer .*; beyond 2\^53 .* has lost digits$/)]],
    [{ id: '7' }, ['id must be an integer from -9223372036854775808 to 9223372036854775807']],
    [{ name: 'long' }, [expect.stringMatching(/^name must be a string of 1 to 3 characters, not only white space/)]],
    [{ name: ' ' }, [expect.stringMatching(/^name must be a string/)]],
  ])('of a body: %j', (members, expected) => {
    expect(messagesOf(Object.assign(new NewToy(), members))).toEqual(expected);
  });

  it.each([
    ['0', 0],
    ['20', 20],
    ['999999999999999', 999999999999999],
    ['1000000000000000', '1000000000000000'],
    ['007', '007'],
    ['-7', '-7'],
    [' 7', ' 7'],
    ['7\n', '7\n'],
    ['', ''],
    ['1.0', '1.0'],
    [7n, 7n],
    [undefined, undefined],
  ])('parse a query parameter as an integer: %p', (received, expected) => {
    expect(parserOf(PageQuery)?.(received)).toBe(expected);
  });

  it.each([
    ['0', 0n],
    ['-7', -7n],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', '9223372036854775808'],
    ['007', '007'],
    ['+7', '+7'],
    ['', ''],
    ['7.0', '7.0'],
    [['7'], ['7']],
    [undefined, undefined],
  ])('parse a query parameter as a 64-bit integer: %p', (received, expected) => {
    const parsed = parserOf(IdQuery)?.(received);
    expect(parsed).toEqual(expected);
    const messages = messagesOf(Object.assign(new IdQuery(), { id: parsed }));
    const rule = 'id must be an integer from -9223372036854775808 to 9223372036854775807';
    expect(messages).toEqual(typeof expected === 'bigint' ? [] : [rule]);
  });

  it.each([
    ['2026-05-17T11:30:00+02:00', new Date('2026-05-17T09:30:00Z')],
    // A + in a query string is a space.
    ['2026-05-17T11:30:00 02:00', '2026-05-17T11:30:00 02:00'],
    ['2026-05-17', '2026-05-17'],
    [['2026-05-17T09:30:00Z'], ['2026-05-17T09:30:00Z']],
    [1n, 1n],
    [undefined, undefined],
  ])('parse a query parameter as a time: %p', (received, expected) => {
    const parsed = parserOf(TimeQuery)?.(received);
    expect(parsed).toEqual(expected);
    const messages = messagesOf(Object.assign(new TimeQuery(), { from: parsed }));
    const rule =
      'from must be an RFC 3339 time of the years 0001 to 9999, in UTC or with an offset, exact to the millisecond, such as 2026-05-17T09:30:00.000Z. In a URL, the + of an offset is %2B';
    expect(messages).toEqual(expected instanceof Date ? [] : [rule]);
  });

  it.each([
    [{}, []],
    [{ note: 'x', parentId: 7n }, []],
    [{ parentId: null }, []],
    [{ note: undefined, parentId: '7' }, [expect.stringMatching(/^note must be a string/), expect.stringMatching(/^parentId must be an/)]],
    [{ due: null }, [expect.stringMatching(/^due must be an RFC 3339 time of the years .* such as 2026-05-17T09:30:00.000Z$/)]],
    [{ due: '2026-05-17T09:30:00Z' }, [expect.stringMatching(/^due must be/)]],
  ])('of a body with members that may be null: %j', (members, expected) => {
    expect(messagesOf(Object.assign(new NewParcel(), members))).toEqual(expected);
  });

  function parserOf(dto: new () => object): DomainRule['convert'] {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    return metadata.map(({ context }): unknown => context).find((context) => context instanceof DomainRule)?.convert;
  }
});
