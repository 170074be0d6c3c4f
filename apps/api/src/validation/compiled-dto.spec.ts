import { MayBeAbsent, QueryInteger, Rule } from '@animal-store/http-contract';
import { describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Expose, plainToInstance, Type as Nested } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, ValidateNested, validateSync } from 'class-validator';
import fc from 'fast-check';
import { OrderDto } from '../testing/order.dto.js';
import { compileDto } from './compiled-dto.js';
import { declaredMembers } from './declared-members.js';

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

class Stock {
  @IsString()
  @Length(1, 3)
  name!: string;

  @IsOptional()
  @IsInt()
  amount?: number;
}

class Outer {
  @Nested(() => Stock)
  @ValidateNested()
  stock!: Stock;
}

class Renamed {
  @Expose({ name: 'other' })
  @IsString()
  name!: string;
}

class Each {
  @IsString({ each: true })
  names!: string[];
}

function byLibraries(dto: Type, source: object): object | undefined {
  const known = Object.fromEntries(Object.entries(source).filter(([member]) => declaredMembers(dto).has(member)));
  const instance = plainToInstance(dto, known, { exposeDefaultValues: true }) as object;
  return validateSync(instance, { forbidUnknownValues: false }).length === 0 ? instance : undefined;
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
    ['a query with defaults, transforms and rules over several members', Page, {}],
    ['the decorators of class-validator', Stock, { name: 'x' }],
  ])('gives the verdict and the instance that the libraries give: %s', (_, dto: Type, valid) => {
    const members = [...declaredMembers(dto)];
    const compiled = compileDto(dto, members);
    const some = fc.dictionary(fc.constantFrom(...members, 'other', 'constructor'), anything, { maxKeys: 4, noNullPrototype: false });
    // Chance alone hardly makes anything that is accepted.
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
          // It may leave the verdict to the libraries only where one of the members is an object or undefined.
          const isPrimitive = members.every((name) => !Object.hasOwn(given, name) || !['object', 'undefined'].includes(typeof given[name]));
          if (isPrimitive) expect(expected).toBeUndefined();
        } else {
          accepted++;
          expect(actual).toBeInstanceOf(dto);
          expect({ ...actual }).toEqual({ ...expected });
        }
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it.each([
    ['nested', Outer, { stock: { name: 'x' } }],
    ['renamed', Renamed, { name: 'x' }],
    ['each', Each, { names: 'x' }],
  ])('leaves what it does not understand to the libraries: %s', (_, dto: Type, source) => {
    expect(compileDto(dto, declaredMembers(dto))(source)).toBeUndefined();
  });
});
