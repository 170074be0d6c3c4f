import { crc32 } from 'node:zlib';
import { DomainError, INT64_MAX, INT64_MIN, JsonPage, JsonText, type OrderValue, type Page, type Position } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { ApiProperty } from '@nestjs/swagger';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { fastify, type FastifyReply } from 'fastify';
import { Cursor, encodeCursor, type SortType } from './cursors.js';
import { respondWithOutcome } from './idempotency-key.js';
import { filtersOf, OrderedPageQueryOf, pageHeaders, PageQueryOf, respondWithPage } from './pages.js';
import { toDto } from './responses.js';
import { INVALID_REQUEST } from './routes.js';

class ListToysQuery extends PageQueryOf('toys') {
  colour?: string;
  size?: bigint;
}

class PartDto {
  @ApiProperty()
  id!: bigint;
}

class ToyDto extends PartDto {
  @ApiProperty({ type: () => PartDto })
  spare?: PartDto;

  @ApiProperty({ type: [PartDto] })
  parts?: readonly PartDto[];

  @ApiProperty({ type: PartDto, nullable: true })
  best?: PartDto | null;
}

const query = (values: Partial<ListToysQuery>) => Object.assign(new ListToysQuery(), values);

async function respond(work: (reply: FastifyReply) => JsonText, url = '/'): Promise<{ body: string; headers: Record<string, unknown> }> {
  const app = fastify().get('/', (_request, reply) => work(reply).text);
  const { body, headers } = await app.inject(url);
  return { body, headers };
}

describe('a page', () => {
  const items: Page<ToyDto> = { items: [{ id: INT64_MAX }] };

  it('has its items, and no Link if it is the last one', async () => {
    const { body, headers } = await respond((reply) => respondWithPage(reply, '/v1/toys', query({}), items, ToyDto));
    expect([body, headers['link']]).toEqual(['[{"id":9223372036854775807}]', undefined]);
  });

  it('that is serialised is returned unchanged and never parsed', async () => {
    const json = new JsonText<ToyDto[]>('[{"id":1}]');
    const parse = () => {
      throw new Error('parsed');
    };
    const page = new JsonPage<ToyDto>(json, undefined, parse, ['id']);
    let returned: JsonText | undefined;
    await respond((reply) => (returned = respondWithPage(reply, '/v1/toys', query({}), page, ToyDto)));
    expect(returned).toBe(json);
  });

  it('has only what the class of its items documents, also if it is serialised or has nested items', async () => {
    const nested = { id: 2n, price: 7 };
    const toys = [{ price: 7, id: 1n, spare: nested, parts: [nested], best: null }];
    const serialised = new JsonPage<ToyDto>(new JsonText('unused'), undefined, () => toys, Object.keys(toys[0] as object));
    const pages: Page<ToyDto>[] = [{ items: toys }, serialised];
    for (const page of pages) {
      const { body } = await respond((reply) => respondWithPage(reply, '/v1/toys', query({}), page, ToyDto));
      expect(body).toBe('[{"id":1,"spare":{"id":2},"parts":[{"id":2}],"best":null}]');
    }
    expect(() => toDto(Object, {})).toThrow('Object documents no members with @ApiProperty.');
  });

  it('links to the next one with the same limit and percent-encoded filters, and a cursor for these filters', async () => {
    const requested = query({ limit: 7, colour: 'red & "blue"', size: 9n });
    const { headers } = await respond((reply) =>
      respondWithPage(reply, 'https://toys.example/v1/toys', requested, { ...items, next: { id: INT64_MAX } }, ToyDto),
    );
    const [, url = ''] = /^<(.+)>; rel="next"$/.exec(String(headers['link'])) ?? [];
    const { origin, pathname, searchParams } = new URL(url);
    expect([origin, pathname]).toEqual(['https://toys.example', '/v1/toys']);
    const { cursor = '', ...others } = Object.fromEntries(searchParams);
    expect(others).toEqual({ limit: '7', colour: 'red & "blue"', size: '9' });
    const parsed = Cursor.parse(cursor) as Cursor;
    expect(parsed.isFor('&colour=red%20%26%20%22blue%22&size=9')).toBe(true);
    expect(parsed.positionAt('https://toys.example/v1/toys')).toEqual({ id: INT64_MAX });
  });

  it('links to the next one after any identifier, also for a concurrent equal request', async () => {
    const shared: Page<ToyDto> = { ...items, next: { id: 0n } };
    const link = async () => (await respond((reply) => respondWithPage(reply, '/v1/toys', query({}), shared, ToyDto))).headers['link'];
    const expected = `</v1/toys?limit=20&cursor=${encodeCursor({ id: 0n }, '/v1/toys', '')}>; rel="next"`;
    expect([await link(), await link()]).toEqual([expected, expected]);
  });

  it('links to the next one with the filters of each request that shares it', async () => {
    const shared: Page<ToyDto> = { ...items, next: { id: 0n } };
    const link = async (colour: string) =>
      (await respond((reply) => respondWithPage(reply, '/v1/toys', query({ colour }), shared, ToyDto), `/?colour=${colour}`)).headers[
        'link'
      ];
    const links = [await link('red'), await link('RED'), await link('red')];
    expect(links.map((value) => /colour=(\w+)/.exec(String(value))?.[1])).toEqual(['red', 'RED', 'red']);
  });

  it('starts after the identifier of its cursor, which is valid only for its filters and its list', () => {
    const cursor = Cursor.parse(encodeCursor({ id: 5n }, '/v1/toys', '&colour=red')) as Cursor;
    expect(query({ cursor, colour: 'red' }).pageOf('/v1/toys')).toEqual({ limit: 20, after: expect.objectContaining({ id: 5n }) });
    expect(query({ limit: 3 }).pageOf('/v1/toys')).toEqual({ limit: 3, after: undefined });
    expect(() => query({ cursor, colour: 'red' }).pageOf('/v1/shops/1/toys')).toThrow(
      new DomainError(INVALID_REQUEST, "cursor must be a cursor from this list's Link header, with the same filters"),
    );
    expect(validateSync(query({ cursor, colour: 'red' }))).toEqual([]);
    expect(validateSync(query({ cursor, colour: 'blue' }))).toMatchObject([{ property: 'cursor' }]);
  });

  it('has a limit from 1 to 100, which is 20 by default', () => {
    expect(query({}).limit).toBe(20);
    const invalid = [0, 1, 20, 100, 101].filter((limit) => validateSync(query({ limit })).length > 0);
    expect(invalid).toEqual([0, 101]);
  });

  it('has a valid example in the OpenAPI document', () => {
    const { example } = pageHeaders('/v1/toys', { colour: 'red' }).Link;
    const [, cursor = ''] = /^<\/v1\/toys\?limit=20&colour=red&cursor=(.+)>; rel="next"$/.exec(example) ?? [];
    expect(query({ cursor: Cursor.parse(cursor) as Cursor, colour: 'red' }).pageOf('/v1/toys').after?.id).toBe(20n);
  });
});

class ListVisitsQuery extends OrderedPageQueryOf('visits', { sort: { startsAt: 'time', reason: 'text' }, default: '-startsAt' }) {
  status?: string;
  from?: Date;
}

const VISITS = '/v1/visits';
const SORT_RULE = 'must be one of startsAt, -startsAt, reason, -reason';
const visitsQuery = (values: object) => Object.assign(new ListVisitsQuery(), values);
const STARTS_AT = new Date('2026-11-22T10:00:00.123Z');

describe('an ordered page', () => {
  it('has one of the declared orders, which are documented', () => {
    expect(visitsQuery({}).pageOf(VISITS, 'startsAt').order).toEqual({ by: 'startsAt', descending: true });
    expect(visitsQuery({ sort: 'reason' }).pageOf(VISITS, 'startsAt').order).toEqual({ by: 'reason', descending: false });
    expect(validateSync(visitsQuery({ sort: '-reason' }))).toEqual([]);
    for (const sort of ['', '-', '--reason', ' reason', 'status', 'constructor', '__proto__', ['reason'], 1, null])
      expect(validateSync(visitsQuery({ sort }))).toMatchObject([{ constraints: { [SORT_RULE]: `sort ${SORT_RULE}` } }]);
    const documented = Reflect.getMetadata('swagger/apiModelProperties', ListVisitsQuery.prototype, 'sort') as unknown;
    expect(documented).toMatchObject({ enum: ['startsAt', '-startsAt', 'reason', '-reason'], default: '-startsAt', required: false });
  });

  it('starts after the position of its cursor, which is valid only for its order and filters', () => {
    const at = { value: STARTS_AT, id: 5n };
    const cursor = Cursor.parse(encodeCursor(at, VISITS, '&sort=-startsAt&status=booked'));
    const valid = { cursor, status: 'booked' };
    expect(visitsQuery(valid).pageOf(VISITS, 'startsAt').after).toMatchObject(at);
    expect(() => visitsQuery(valid).pageOf('/v1/pets/7/visits', 'startsAt')).toThrow('with the same filters and sort');
    expect(validateSync(visitsQuery(valid))).toEqual([]);
    const other = [
      { status: 'cancelled' },
      { sort: 'startsAt' },
      { sort: 'reason' },
      { from: STARTS_AT },
      { cursor: Cursor.parse(encodeCursor({ id: 5n }, VISITS, '')) },
    ];
    for (const change of other) expect(validateSync(visitsQuery({ ...valid, ...change }))).toMatchObject([{ property: 'cursor' }]);
    // A value of another type would be an error of the database.
    const text = encodeCursor({ value: 'soon', id: 5n }, VISITS, '&sort=-startsAt');
    expect(validateSync(visitsQuery({ cursor: Cursor.parse(text) }))).toMatchObject([{ property: 'cursor' }]);
  });

  it('has the range of its order, and rejects a range of another one', () => {
    const from = STARTS_AT;
    expect(visitsQuery({ limit: 7, from }).pageOf(VISITS, 'startsAt', { from, to: undefined })).toEqual({
      limit: 7,
      after: undefined,
      order: { by: 'startsAt', descending: true, from, to: undefined },
    });
    expect(visitsQuery({ sort: 'reason' }).pageOf(VISITS, 'startsAt', {}).order).toEqual({ by: 'reason', descending: false });
    for (const range of [{ from }, { to: from }]) {
      expect(() => visitsQuery({ sort: 'reason' }).pageOf(VISITS, 'startsAt', range)).toThrow(
        new DomainError(INVALID_REQUEST, 'A range of startsAt requires sort to be startsAt or -startsAt'),
      );
    }
  });

  it('links to the next one with the filters as they were received, and a cursor for their values', async () => {
    const page: Page<ToyDto> = { items: [], next: { value: STARTS_AT, id: 9n } };
    const link = async (from: string) => {
      const requested = visitsQuery({ limit: 7, from: STARTS_AT });
      const { headers } = await respond(
        (reply) => respondWithPage(reply, '/v1/visits', requested, page, ToyDto),
        `/?from=${encodeURIComponent(from)}&limit=7&unknown=x`,
      );
      return headers['link'];
    };
    const cursor = encodeCursor({ value: STARTS_AT, id: 9n }, VISITS, '&from=2026-11-22T10%3A00%3A00.123Z&sort=-startsAt');
    for (const from of ['2026-11-22T10:00:00.123Z', '2026-11-22T12:00:00.123+02:00']) {
      const expected = `</v1/visits?limit=7&from=${encodeURIComponent(from)}&sort=-startsAt&cursor=${cursor}>; rel="next"`;
      expect(await link(from)).toBe(expected);
    }
  });

  it('has a valid example in the OpenAPI document', () => {
    const { example } = pageHeaders('/v1/visits', { sort: 'startsAt' }, { value: STARTS_AT, id: 20n }).Link;
    expect(example).toBe(
      `</v1/visits?limit=20&sort=startsAt&cursor=${encodeCursor({ value: STARTS_AT, id: 20n }, VISITS, '&sort=startsAt')}>; rel="next"`,
    );
  });
});

describe('the filters of a query', () => {
  it('are all members except limit and cursor, sorted, and undefined ones are left out', () => {
    expect(filtersOf({ status: 'sold', category: 7n, further: undefined })).toBe('&category=7&status=sold');
    expect(filtersOf({ category: 7n, status: 'sold' })).toBe('&category=7&status=sold');
    expect(filtersOf({ limit: 20, cursor: 'x' })).toBe('');
    expect(filtersOf({ category: 0n, limited: false, text: '' })).toBe('&category=0&limited=false&text=');
    expect(filtersOf({ at: new Date(123), never: new Date(Number.NaN) })).toBe('&at=1970-01-01T00%3A00%3A00.123Z&never=null');
  });

  it('differ for any two different filters', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
        fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
        (one, other) => {
          const isSame = one['a'] === other['a'] && one['b'] === other['b'];
          expect(filtersOf(one) === filtersOf(other)).toBe(isSame);
        },
      ),
    );
  });
});

it.each([
  ['/v1/toys/7', false, undefined],
  ['/v1/toys/7', true, 'true'],
  [undefined, false, undefined],
])('a creation responds with its URL, if it has one; %s, replayed: %s', async (url, replayed, header) => {
  const priced = { id: 7n, price: 9 };
  const { body, headers } = await respond((reply) =>
    JsonText.of(respondWithOutcome<ToyDto>(reply, { result: priced, replayed }, ToyDto, url)),
  );
  expect([body, headers['location'], headers['idempotent-replayed']]).toEqual(['{"id":7}', url, header]);
});

describe('cursors', () => {
  const id = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
  const filters = fc.constantFrom('', '&status=available', '&category=7', '&category=7&status=sold', '&status=sold%26category%3D7');

  const URL = '/v1/toys';

  /** Returns the position of the cursor, or undefined if it is not one of the list at this URL. */
  function read(text: unknown, of: string, type?: SortType, url = URL): Position | undefined {
    const cursor = Cursor.parse(text);
    return cursor instanceof Cursor && cursor.isFor(of, type) ? cursor.positionAt(url, type) : undefined;
  }

  describe('a cursor', () => {
    const values: Record<SortType, fc.Arbitrary<OrderValue>> = {
      int64: id,
      integer: fc.oneof(fc.integer(), fc.constantFrom(-(2 ** 31), 2 ** 31 - 1)),
      text: fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 255 }).map((text) => text.replaceAll('\0', '')),
        fc.constantFrom('', 'x'.repeat(1024), '🐕'.repeat(255)),
      ),
      time: fc.oneof(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
        fc.constantFrom(Infinity, -Infinity),
      ),
    };
    const types = Object.keys(values) as SortType[];
    const position = fc.constantFrom(...types).chain((type) => fc.record({ type: fc.constant(type), value: values[type], id }));

    /** Of a list by identifier, or of an ordered one. */
    const cursors = fc.oneof(
      fc.record({ type: fc.constant(undefined), after: fc.record({ id }) }),
      position.map(({ type, ...after }) => ({ type, after })),
    );

    it('decodes to its position, and only with the same filters and order', () => {
      fc.assert(
        fc.property(cursors, filters, filters, ({ type, after }, of, other) => {
          const cursor = encodeCursor(after, URL, of);
          expect(read(cursor, of, type)).toMatchObject(after);
          if (other !== of) expect(read(cursor, other, type)).toBeUndefined();
        }),
      );
    });

    it('belongs to its list, and to no other operation or parent', () => {
      const urls = ['/v1/visits', '/v1/visits/1/treatments', '/v1/visits/2/treatments', '/v1/pets', 'https://api.example.com/v1/pets'];
      for (const url of urls) {
        const cursor = encodeCursor({ id: 7n }, url, '');
        expect(urls.filter((other) => read(cursor, '', undefined, other))).toEqual([url]);
      }
    });

    it('of a list by identifier is not accepted by an ordered one, and the other way round', () => {
      expect(read(encodeCursor({ id: 7n }, URL, ''), '', 'int64')).toBeUndefined();
      expect(read(encodeCursor({ value: 'x', id: 7n }, URL, ''), '')).toBeUndefined();
    });

    it('is rejected if any character is changed, added or left out', () => {
      fc.assert(
        fc.property(
          cursors,
          filters,
          fc.nat(),
          fc.constantFrom('', ...'AZaz09-_=.\n'),
          fc.nat(1),
          ({ type, after }, of, place, character, removed) => {
            const cursor = encodeCursor(after, URL, of);
            const index = place % cursor.length;
            const changed = cursor.slice(0, index) + character + cursor.slice(index + removed);
            fc.pre(changed !== cursor);
            expect(read(changed, of, type)).toBeUndefined();
          },
        ),
      );
    });

    it('is rejected if it is anything else', () => {
      fc.assert(fc.property(fc.anything(), filters, fc.constantFrom(...types), (text, of, type) => read(text, of, type) === undefined));
      fc.assert(fc.property(fc.base64String(), fc.constantFrom(...types), (text, type) => read(text, '', type) === undefined));
    });

    /** Returns a cursor with valid checksums, which anybody can compute. */
    function forged(value: string | Buffer): string {
      const cursor = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 1]), Buffer.from(value)]);
      const checksums = Buffer.alloc(8);
      checksums.writeUInt32BE(crc32(cursor));
      checksums.writeUInt32BE(crc32(URL, crc32(cursor)), 4);
      return Buffer.concat([cursor, checksums]).toString('base64url');
    }

    it.each<[SortType, string, string]>([
      ['int64', '9223372036854775807', '9223372036854775808'],
      ['int64', '-1', '-01'],
      ['integer', '2147483647', '2147483648'],
      ['integer', '-2147483648', '1e3'],
      ['integer', '0', ''],
      ['text', 'constructor', 'x\0'],
      ['time', '0001-01-01T00:00:00.000Z', '0000-12-31T00:00:00.000Z'],
      ['time', '-Infinity', 'infinity'],
      ['time', 'Infinity', 'NaN'],
      ['time', '2026-11-22T10:00:00.123Z', '2026-11-22T10:00:00Z'],
      ['time', '2028-02-29T10:00:00.000Z', '2026-02-29T10:00:00.000Z'],
      ['time', '9999-12-31T23:59:59.999Z', '+010000-01-01T00:00:00.000Z'],
    ])('with a valid checksum is accepted with the %s %j, and rejected with %j', (type, valid, invalid) => {
      expect(read(forged(valid), '', type)).toMatchObject({ id: 1n });
      expect(read(forged(invalid), '', type)).toBeUndefined();
    });

    it('with a valid checksum is rejected with bytes that are not UTF-8, and with more than 1,024 bytes', () => {
      expect(read(forged(Buffer.from([0xff])), '', 'text')).toBeUndefined();
      expect(read(forged('x'.repeat(1024)), '', 'text')).toMatchObject({ value: 'x'.repeat(1024), id: 1n });
      expect(read(forged('x'.repeat(1025)), '', 'text')).toBeUndefined();
    });

    it('cannot have a longer text', () => {
      const at: Position = { value: 'é'.repeat(513), id: 7n };
      expect(() => encodeCursor(at, URL, '')).toThrow('A text that orders a list must have at most 1024 bytes, but that of 7 is longer.');
    });
  });
});
