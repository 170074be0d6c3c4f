import { INVALID_REQUEST, MayBeAbsent, QueryInteger, Rule } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDate,
  IsEnum,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { ValidationPipe } from './validation.pipe.js';

enum Size {
  Small = 'small',
  Large = 'large',
}

class Line {
  @Rule('must be an identifier', (value) => typeof value === 'bigint')
  petId!: bigint;

  @IsInt()
  @Min(1)
  @Max(100)
  quantity!: number;
}

class Address {
  @IsString()
  @Length(1, 20)
  city!: string;
}

class PurchaseDto {
  @IsString()
  @Length(1, 20)
  title!: string;

  @IsInt()
  @Min(1)
  @Max(100)
  quantity!: number;

  @IsEnum(Size)
  size!: Size;

  @IsOptional()
  @IsNumber()
  weight?: number;

  @IsOptional()
  @Type(() => Number)
  @IsInt({ each: true })
  ratings?: number[];

  @IsOptional()
  @ValidateNested()
  @Type(() => Address)
  address?: Address;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(3)
  @ValidateNested()
  @Type(() => Line)
  lines?: Line[];

  @IsOptional()
  @IsObject()
  notes?: object;

  @IsOptional()
  @Type(() => Date)
  @IsDate()
  due?: Date;
}

class PageQuery {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class ListPurchasesQuery extends PageQuery {
  @IsOptional()
  @IsEnum(Size)
  size?: Size;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  minimum?: number;
}

class Shouted {
  @Transform(({ value }: { value: string }) => value.toUpperCase())
  @IsString()
  title!: string;

  @IsOptional()
  @Transform(({ value }: { value: number }) => value + 1)
  @IsInt()
  quantity?: number;

  @IsOptional()
  @Transform(({ value }) => Number(value))
  @IsInt()
  amount?: number;

  @IsOptional()
  @Type(() => Number)
  @IsInt({ each: true })
  ratings?: number[];

  @IsOptional()
  @Type(() => Number)
  rank?: unknown;

  @IsOptional()
  @Type(() => String)
  code?: string;

  @IsOptional()
  notes?: unknown;

  @IsOptional()
  @Type(() => Line)
  line?: Line;
}

class WithoutType {
  @ValidateNested()
  address!: Address;
}

const pipe = new ValidationPipe();
const body = (json: string, strict = false, metatype: new () => object = PurchaseDto) =>
  pipe.transform({ bytes: Buffer.from(json), strict }, { type: 'body', metatype }) as PurchaseDto;
const valid = '"title":"x","quantity":7,"size":"small"';
const withMember = (member: string) => body(`{${valid},${member}}`);
const transformed = (members: string) => body(`{${members}}`, false, Shouted);
const query = (parameters: object) => pipe.transform(parameters, { type: 'query', metatype: ListPurchasesQuery });

describe('a body with the decorators of class-validator', () => {
  it('becomes an instance with its declared members', () => {
    const purchase = withMember('"weight":7,"other":1');
    expect(purchase).toBeInstanceOf(PurchaseDto);
    expect(purchase).toEqual({ title: 'x', quantity: 7, size: 'small', weight: 7 });
  });

  it.each([
    ['"weight":7.5', { weight: 7.5 }],
    ['"weight":7e0', { weight: 7 }],
    ['"weight":9.007199254740991e15', { weight: Number.MAX_SAFE_INTEGER }],
    ['"due":"2026-01-02T03:04:05Z"', { due: new Date('2026-01-02T03:04:05Z') }],
    ['"ratings":[1,2]', { ratings: [1, 2] }],
    ['"notes":{"id":9007199254740993}', { notes: { id: 9007199254740993n } }],
  ])('converts %s', (member, expected) => expect(withMember(member)).toMatchObject(expected));

  it('converts nested members, with exact ids', () => {
    const { address, lines } = withMember(
      '"address":{"city":"Riga"},"lines":[{"petId":9007199254740993,"quantity":2},{"petId":1,"quantity":1}]',
    );
    expect(address).toBeInstanceOf(Address);
    expect(lines?.[1]).toBeInstanceOf(Line);
    expect(lines).toEqual([
      { petId: 9007199254740993n, quantity: 2 },
      { petId: 1n, quantity: 1 },
    ]);
  });

  it.each([
    ['"quantity":"7"', 'quantity must be an integer number; quantity must not be less than 1; quantity must not be greater than 100'],
    ['"quantity":9007199254740993', 'quantity must be less than 2^53 in magnitude'],
    ['"quantity":9.007199254740992E15', 'quantity must be less than 2^53 in magnitude: a larger number has lost digits'],
    ['"weight":1e300', 'weight must be less than 2^53 in magnitude'],
    ['"ratings":[9007199254740993]', 'each value in ratings must be an integer number'],
    ['"ratings":[1e16]', 'ratings must be less than 2^53 in magnitude'],
    ['"address":{"city":""}', 'address.city must be longer than or equal to 1 characters'],
    [
      '"lines":[{"petId":1,"quantity":1},{"petId":"1","quantity":0}]',
      'lines.1.petId must be an identifier; lines.1.quantity must not be less than 1',
    ],
    ['"due":"soon"', 'due must be a Date instance'],
    ['"due":1,"ratings":["x"]', 'due has an invalid type; ratings: each value in ratings must be an integer number'],
    ['"ratings":[{"valueOf":1,"toString":1}]', 'each value in ratings must be an integer number'],
    ['"lines":[null]', 'lines.0: nested property lines must be either object or array'],
  ])('is rejected with %s', (member, message) => {
    expect(() => withMember(member)).toThrow(DomainError);
    expect(() => withMember(member)).toThrow(message);
  });

  it('drops unknown members of nested objects, and reports them with strict handling', () => {
    const nested = `{${valid},"address":{"city":"Riga","admin":true},"lines":[{"petId":1,"quantity":1,"price":0}],"other":1}`;
    const { address, lines } = body(nested);
    expect([address, lines]).toEqual([{ city: 'Riga' }, [{ petId: 1n, quantity: 1 }]]);
    expect(() => body(nested, true)).toThrow(
      /^"other" is not a known member; "address.admin" is not a known member; "lines.0.price" is not a known member$/,
    );
  });

  it.each(['"notes"', '"address"', '"lines"', '"title"', '"ratings"'])(
    'is not affected by the members __proto__ and constructor in %s',
    (name) => {
      for (const value of [
        '{"constructor":1,"city":"Riga"}',
        '{"constructor":{"prototype":{"gift":1}},"__proto__":{"gift":1},"city":"Riga"}',
      ]) {
        for (const json of [value, `[${value}]`, `{"a":${value}}`]) {
          try {
            const purchase = withMember(`${name}:${json}`);
            expect(JSON.stringify(purchase, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one))).not.toContain('gift');
          } catch (error) {
            expect(error).toBeInstanceOf(DomainError);
          }
        }
      }
      expect(({} as { gift?: unknown }).gift).toBeUndefined();
    },
  );

  it('contains at most 2,000 values in its known members, at any depth', () => {
    const numbers = (length: number) => JSON.stringify(Array.from({ length }, () => 1));
    // `first` and `second` with their values.
    const notes = (first: number, second: number) => `"notes":{"first":${numbers(first)},"second":{"deep":${numbers(second)}}}`;
    const message = 'The known members must contain at most 2000 values in total.';
    expect(withMember(notes(999, 998)).notes).toMatchObject({ first: expect.any(Array) });
    expect(() => withMember(notes(999, 999))).toThrow(new DomainError(INVALID_REQUEST, message));
    expect(() => withMember(notes(998, 1000))).toThrow(message);
    expect(() => withMember(`"lines":[${Array.from({ length: 700 }, () => '{"petId":1,"quantity":1}').join(',')}]`)).toThrow(message);
    // Unknown members are not converted, and do not count.
    expect(withMember(`"other":${numbers(3_000)}`)).toEqual({ title: 'x', quantity: 7, size: 'small' });
  });

  it('may have @Transform, after the conversion to a number', () => {
    expect(transformed('"title":"x","quantity":7,"amount":7,"ratings":[7],"rank":7.0,"code":9007199254740993')).toEqual({
      title: 'X',
      quantity: 8,
      amount: 7,
      ratings: [7],
      rank: 7,
      code: '9007199254740993',
    });
    expect(() => transformed('"title":7')).toThrow('title has an invalid type');
  });

  it.each(['quantity', 'amount', 'ratings', 'rank', 'code', 'notes', 'line'])('is rejected if a number of %s has lost digits', (name) => {
    for (const number of ['9.007199254740993E15', '-9007199254740992.0', '1e300', '9223372036854775808']) {
      const values = name === 'line' ? [`{"petId":${number}}`] : [number, `[${number}]`];
      if (name === 'notes') values.push(`{"a":[${number}]}`);
      for (const value of values) expect(() => transformed(`"title":"x","${name}":${value}`)).toThrow(name);
    }
    if (name === 'rank' || name === 'notes')
      expect(transformed(`"title":"x","${name}":9007199254740993`)).toMatchObject({ [name]: 9007199254740993n });
    else if (name !== 'code' && name !== 'line') expect(() => transformed(`"title":"x","${name}":9007199254740993`)).toThrow(name);
  });

  it('fails for a nested class without @Type', () => {
    expect(() => body('{"address":{"city":"Riga"}}', false, WithoutType)).toThrow('address needs @Type');
  });
});

describe('a query with the decorators of class-validator', () => {
  it('is converted, also with a base class', () => {
    expect(query({ size: 'small', minimum: '7', limit: '50', other: 'x' })).toEqual({ size: 'small', minimum: 7, limit: 50 });
    expect(query({})).toEqual({ limit: 20 });
  });

  it.each([
    [{ minimum: 'x' }, 'minimum must be an integer number'],
    [{ minimum: ['1', '2'] }, 'minimum must be an integer number'],
    [{ minimum: '9007199254740993' }, 'minimum must be less than 2^53 in magnitude'],
    [{ limit: '0' }, 'limit must be an integer from 1 to 100'],
  ])('is rejected with %j', (parameters, message) => {
    expect(() => query(parameters)).toThrow(DomainError);
    expect(() => query(parameters)).toThrow(message);
  });

  it('ignores the parameters __proto__ and constructor', () => {
    const parameters = JSON.parse('{"__proto__":"x","constructor":"x","minimum":"7"}') as object;
    expect(query(parameters)).toEqual({ limit: 20, minimum: 7 });
  });
});
