import { MayBeAbsent, QueryInteger, Rule } from '@animal-store/http-contract';
import { describe, expect, it } from '@jest/globals';
import type { Type as Class } from '@nestjs/common';
import { PartialType } from '@nestjs/swagger';
import { Exclude, Expose, plainToInstance, Transform, Type } from 'class-transformer';
import { IsString, validateSync } from 'class-validator';
import fc from 'fast-check';
import { OrderDto } from './testing/order.dto.js';
import { compileDto } from './validation.pipe.js';
import { declaredMembers } from './declared-members.js';
import { validateWithClassValidator } from './validate-with-class-validator.js';

class Page {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;

  @MayBeAbsent()
  @Rule('must be a letter', (value) => typeof value === 'string' && /^[a-z]$/.test(value))
  kind?: string;

  @MayBeAbsent()
  @Rule('must begin with the kind', (value, page) => typeof value === 'string' && value.startsWith((page as Page).kind ?? '-'))
  cursor?: string;
}

class SortedPage extends Page {
  @MayBeAbsent()
  @Rule('must be a letter or two', (value) => typeof value === 'string' && /^[a-z]{1,2}$/.test(value))
  declare kind?: string;

  @MayBeAbsent()
  @Rule('must be a positive number', (value) => typeof value === 'number' && value > 0)
  weight?: number;
}

class Mixed extends Page {
  @IsString()
  name!: string;
}

class Lowered extends Page {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))
  @Rule('must be a word', (value) => typeof value === 'string')
  word!: string;
}

class Doubled extends Page {
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value + value : value))
  declare limit: number;
}

class Textual {
  @Type(() => String)
  @Rule('must be present', (value) => value !== undefined)
  amount!: string;
}

class Renamed {
  @Expose({ name: 'other' })
  @Rule('must be text', (value) => value === undefined || typeof value === 'string')
  name!: string;
}

class Hidden {
  @Exclude()
  @MayBeAbsent()
  @Rule('must be text', (value) => typeof value === 'string')
  name!: string;
}

class Computed {
  @Rule('must be text', (value) => typeof value === 'string')
  first!: string;

  @Rule('must be short', (value) => typeof value === 'string' && value.length < 9)
  get greeting(): string {
    return `Hello ${this.first}`;
  }
}

/** Returns the result of the libraries alone, with the `parse` functions of the members. */
function byLibraries(dto: Class, source: object): object | undefined {
  const known = Object.fromEntries(
    Object.entries(source).flatMap(([name, value]: [string, unknown]) => {
      const member = declaredMembers(dto).get(name);
      return member ? [[name, member.parse ? member.parse(value) : value]] : [];
    }),
  );
  const instance = plainToInstance(dto, known, { exposeDefaultValues: true }) as object;
  return validateSync(instance).length === 0 ? instance : undefined;
}

const primitive = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.constantFrom('1', '20', '100', '101', '007', 'a', 'ab', '-', '-x', ''),
  fc.bigInt(),
  fc.integer({ min: -1, max: 101 }),
  fc.double(),
  fc.boolean(),
  fc.constant(undefined),
);
const anything = fc.oneof(
  { weight: 4, arbitrary: primitive },
  fc.constant(null),
  fc.array(primitive, { maxLength: 2 }),
  fc.object({ maxDepth: 1 }),
);

describe('a compiled DTO', () => {
  it.each([
    ['a body', OrderDto, { title: 'x', amount: 1n }],
    ['a query with defaults, integers and rules over several members', Page, {}],
    ['a subclass that overrides a rule', SortedPage, { weight: 1n }],
  ])('returns the same result as the libraries: %s', (_, dto: Class, valid) => {
    const members = [...declaredMembers(dto).keys()];
    const compiled = compileDto(dto);
    const some = fc.dictionary(fc.constantFrom(...members, 'other', 'constructor'), anything, { maxKeys: 4, noNullPrototype: false });
    // Random members alone are rarely accepted.
    const source: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
      some,
      some.map((given) => ({ ...valid, ...given })),
    );
    let accepted = 0;
    fc.assert(
      fc.property(source, (given) => {
        const expected = byLibraries(dto, given);
        const actual = compiled(given);
        if (actual === undefined) {
          // The libraries may accept this input only if one of its members is an object or undefined.
          const isPrimitive = members.every((name) => !Object.hasOwn(given, name) || !['object', 'undefined'].includes(typeof given[name]));
          if (isPrimitive) expect(expected).toBeUndefined();
        } else {
          accepted++;
          expect(actual).toBeInstanceOf(dto);
          expect({ ...actual }).toEqual({ ...expected });
        }
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it.each([
    ['a rule of class-validator with inherited ones of ours', Mixed, { name: 'x' }, { limit: 20, name: 'x' }],
    ['@Transform', Lowered, { word: 'X' }, { limit: 20, word: 'x' }],
    ['@Transform on an inherited member with a reader', Doubled, { limit: '1' }, { limit: 11 }],
    ['@Type', Textual, { amount: 7n }, { amount: '7' }],
    ['@Expose', Renamed, { other: 'x' }, {}],
    ['@Exclude', Hidden, { name: 'x' }, {}],
    ['PartialType', PartialType(OrderDto), { title: 'x' }, { title: 'x' }],
    ['a getter', Computed, { first: 'x', greeting: 'y' }, { first: 'x' }],
  ])('defers to the libraries: %s', (_, dto: Class, source, expected) => {
    expect(compileDto(dto)(source)).toBeUndefined();
    expect({ ...validateWithClassValidator(dto, source) }).toEqual(expected);
  });

  it('passes the value and the instance to the predicate, compiled or not', () => {
    expect(compileDto(Page)({ kind: 'a', cursor: 'ab' })).toEqual({ limit: 20, kind: 'a', cursor: 'ab' });
    expect(compileDto(Page)({ kind: 'a', cursor: 'b' })).toBeUndefined();
    expect(() => validateWithClassValidator(Page, { kind: 'a', cursor: 'b' })).toThrow(/^cursor must begin with the kind$/);
  });
});
