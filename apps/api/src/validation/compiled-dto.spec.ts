import { MayBeAbsent, Nullable, QueryInteger, Rule } from '@animal-store/http-kit';
import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Query, type Type as Class } from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import { PartialType } from '@nestjs/swagger';
import { Exclude, Expose, plainToInstance, Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsDefined,
  IsEnum,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  registerDecorator,
  ValidateIf,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';
import fc from 'fast-check';
import { OrderDto } from './testing/order.dto.js';
import { CompiledDto } from './compiled-dto.js';
import { ValidationPipe } from './validation.pipe.js';

const RULES: Readonly<Record<string, () => PropertyDecorator>> = {
  string: () => IsString(),
  strings: () => IsString({ each: true }),
  length: () => Length(1, 2),
  integer: () => IsInt({ message: '$property is $value' }),
  integers: () => IsInt({ each: true, message: ({ property, targetName }) => `${property} of ${targetName}: $value` }),
  range: () => Min(1),
  maximum: () => Max(5, { message: 'at most $constraint1, not $value' }),
  enumerated: () => IsEnum({ A: 'a', B: 'b' }),
  listed: () => IsIn(['a', 1, null], { groups: ['write'] }),
  matching: () => Matches(/^a/, { validateIf: ({ y }: { y?: unknown }) => y !== 'a' }),
  array: () => IsArray(),
  short: () => ArrayMaxSize(1),
  defined: () => IsDefined(),
  optional: () => IsOptional(),
  present: () => MayBeAbsent(),
  nullable: () => Nullable(),
  conditional: () => ValidateIf(({ x }: { x?: unknown }) => x !== 'a'),
  own: () => Rule('must equal x', (value, { x }: { x?: unknown }) => value === x),
  nested: () => ValidateNested(),
  nestedItems: () => ValidateNested({ each: true }),
};
const NAMES = ['x', 'y', 'z'] as const;
type Rules = Readonly<Record<string, readonly string[]>>;

/** Decorates the members of a class, from the last decorator to the first. */
function decorate(dto: Class, rules: Rules, nested: Class): Class {
  for (const [name, decorators] of Object.entries(rules)) {
    if (decorators.some((rule) => rule.startsWith('nested'))) Type(() => nested)(dto.prototype as object, name);
    for (const rule of decorators.toReversed()) RULES[rule]?.()(dto.prototype as object, name);
  }
  return dto;
}

/** Returns an instance, or the error message, of the libraries alone. */
function byLibraries(dto: Class, source: object): unknown {
  const instance = plainToInstance(dto, source, { exposeDefaultValues: true }) as object;
  const messages = validateSync(instance).flatMap((violation) => messagesOf(violation));
  return messages.length === 0 ? instance : messages.join('; ');
}

/** Returns the value without unknown members of the object, or of each object of the list. */
function prune(given: unknown, known: ReadonlySet<string>): unknown {
  if (Array.isArray(given)) return given.map((item) => prune(item, known));
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).filter(([name]) => known.has(name)));
}

function messagesOf({ property, constraints = {}, children = [] }: ValidationError, path = ''): string[] {
  const own = Object.values(constraints).reverse();
  return [
    ...own.map((message) => (message.startsWith(`${property} `) ? path + message : `${path}${property}: ${message}`)),
    ...children.flatMap((child) => messagesOf(child, `${path}${property}.`)),
  ];
}

function byEngine(dto: Class, source: object): unknown {
  try {
    return CompiledDto.of(dto)?.parse(source);
  } catch (error) {
    return (error as Error).message;
  }
}

const flatRules = fc.uniqueArray(fc.constantFrom(...Object.keys(RULES).filter((rule) => !rule.startsWith('nested'))), {
  minLength: 1,
  maxLength: 2,
});
const nestedRules = fc.constantFrom(['nested'], ['nestedItems'], ['optional', 'nested'], ['array', 'nested']);
const membersWith = (...rules: fc.Arbitrary<readonly string[]>[]): fc.Arbitrary<Rules> =>
  fc.dictionary(fc.constantFrom(...NAMES), fc.oneof(...rules), { minKeys: 1, noNullPrototype: true });
const innerRules = membersWith(flatRules);
const rulesOfClass = membersWith(flatRules, nestedRules);
const primitive = fc.oneof(
  fc.constantFrom('a', 'b', 'ab', 'abc', '', 1, 5, 6, 0.5, true, null, undefined, 7n),
  fc.string({ maxLength: 2 }),
);
const value = fc.oneof(
  { weight: 3, arbitrary: primitive },
  fc.array(primitive, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom(...NAMES, 'other'), primitive, { noNullPrototype: true }),
  fc.array(fc.dictionary(fc.constantFrom(...NAMES, 'other'), primitive, { noNullPrototype: true }), { maxLength: 2 }),
);
const sourceOf = fc.dictionary(fc.constantFrom(...NAMES, 'other'), value, { noNullPrototype: true });

class Page {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class Lowered extends Page {
  @Transform(({ value: word }: { value: unknown }) => (typeof word === 'string' ? word.toLowerCase() : word))
  @IsString()
  word!: string;
}

class Doubled extends Page {
  @Transform(({ value: text }: { value: unknown }) => (typeof text === 'string' ? text + text : text))
  declare limit: number;
}

class Plain {}

class Textual {
  @Type(() => String)
  @IsDefined()
  amount!: string;

  @IsOptional()
  @Type(() => Date)
  times?: Date[];
}

class Counted {
  @IsDefined()
  count!: number;
}

class Drawing {
  @IsOptional()
  @ValidateNested()
  @Type(() => Counted)
  lines?: Counted[];
}

class Tagged {
  @IsOptional()
  @Type(() => String)
  tags?: Set<string>;
}

class Discriminated {
  @IsOptional()
  @Type(() => Counted, { discriminator: { property: 'kind', subTypes: [{ name: 'counted', value: Counted }] } })
  shape!: Counted;
}

class Unruled {
  @IsOptional()
  @Type(() => Plain)
  plain?: Plain;
}

class Renamed {
  @Expose({ name: 'other' })
  @IsOptional()
  name!: string;
}

class Hidden {
  @Exclude()
  @IsOptional()
  name!: string;
}

class Computed {
  @IsString()
  first!: string;

  @IsString()
  get greeting(): string {
    return `Hello ${this.first}`;
  }
}

describe('a compiled DTO', () => {
  it('returns the instances and messages of class-transformer and class-validator, for any decorators and input', () => {
    const accepted = { count: 0, nested: 0 };
    fc.assert(
      fc.property(
        rulesOfClass,
        rulesOfClass,
        innerRules,
        fc.array(sourceOf, { minLength: 20, maxLength: 20 }),
        (base, own, inner, sources) => {
          const Nested = decorate(class Nested {}, inner, class {});
          const Base = decorate(class Base {}, base, Nested);
          const dto = decorate(class Dto extends Base {}, own, Nested);
          const known = new Set([...Object.keys(base), ...Object.keys(own)]);
          const isNested = (name: string) => [...(base[name] ?? []), ...(own[name] ?? [])].some((rule) => rule.startsWith('nested'));
          for (const source of sources) {
            const members = Object.entries(source).filter(([name]) => known.has(name));
            const nested = new Set(Object.keys(inner));
            const expected = byLibraries(
              dto,
              Object.fromEntries(members.map(([name, given]) => [name, isNested(name) ? prune(given, nested) : given])),
            );
            const actual = byEngine(dto, source);
            expect(actual).toEqual(expected);
            if (typeof actual !== 'string') {
              accepted.count++;
              expect(actual).toBeInstanceOf(dto);
              if (
                Object.values(actual as object)
                  .flat()
                  .some((member) => member instanceof Nested)
              )
                accepted.nested++;
            }
          }
        },
      ),
      {
        numRuns: 25,
        examples: [
          [{ x: ['nested'], y: ['array', 'nestedItems'] }, { z: ['optional'] }, { y: ['string'] }, [{ x: { y: 'a' }, y: [{ y: 'b' }] }]],
          [{ x: ['string'] }, { z: ['optional'] }, {}, [{ x: 'a' }]],
        ],
      },
    );
    expect(accepted.count).toBeGreaterThan(accepted.nested);
    expect(accepted.nested).toBeGreaterThan(0);
  });

  it.each([
    ['@Transform', Lowered, { word: 'X' }, { limit: 20, word: 'x' }],
    ['@Transform on an inherited member that is converted', Doubled, { limit: '1' }, { limit: 11 }],
    ['@Type', Textual, { amount: 7n }, { amount: '7' }],
    ['@Type of a list', Textual, { amount: 'x', times: ['2026-01-02'] }, { amount: 'x', times: [new Date('2026-01-02')] }],
    ['PartialType', PartialType(OrderDto), { title: 'x' }, { title: 'x' }],
    ['the type number', Counted, { count: 7n }, { count: 7 }],
    ['a default', Page, { limit: undefined }, { limit: 20 }],
  ])('supports %s', (_, dto: Class, source, expected) => {
    const instance = CompiledDto.of(dto)?.parse(source);
    expect(instance).toBeInstanceOf(dto);
    expect({ ...instance }).toEqual(expected);
  });

  it('reports unknown members of nested objects', () => {
    const source = { lines: [{ count: 1 }, { count: 1, gift: true }], other: 1 };
    expect(() => CompiledDto.of(Drawing)?.parse(source, 'member')).toThrow(
      /^"other" is not a known member; "lines.1.gift" is not a known member$/,
    );
  });

  it.each([
    [Renamed, 'Renamed: @Expose and @Exclude are not supported.'],
    [Hidden, 'Hidden: @Expose and @Exclude are not supported.'],
    [Computed, 'Computed.greeting must not be an accessor.'],
    [Tagged, 'Tagged.tags: only @Type(() => Class) for a value or an array is supported.'],
    [Discriminated, 'Discriminated.shape: only @Type(() => Class) for a value or an array is supported.'],
    [Unruled, 'Unruled.plain needs @Type with a class that has rules.'],
  ])('rejects decorators that it does not honour', (dto: Class, message) => {
    for (let i = 0; i < 2; i++) expect(() => CompiledDto.of(dto)).toThrow(message);
  });
});

describe('an asynchronous rule', () => {
  const message = 'The rule of Late.name is asynchronous; only synchronous rules are supported.';
  const late = (validate: () => boolean | Promise<boolean>, isDeclared: boolean) => {
    class Late {
      @((target: object, propertyName: string) =>
        registerDecorator({ name: 'late', target: target.constructor, propertyName, async: isDeclared, validator: { validate } }))
      name!: string;
    }
    class Outer {
      @ValidateNested()
      @Type(() => Late)
      late!: Late;
    }
    @Controller()
    class LateController {
      @Get()
      list(@Query() query: Outer) {
        return query;
      }
    }
    // The compiler does not know types that a function creates.
    Reflect.defineMetadata('design:paramtypes', [Outer], LateController.prototype, 'list');
    @Module({ controllers: [LateController], providers: [{ provide: APP_PIPE, useClass: ValidationPipe }] })
    class LateModule {}
    return { Outer, LateModule };
  };

  it('prevents the start of the app, also in a nested class', async () => {
    const { LateModule } = late(async () => true, true);
    await expect(NestFactory.createApplicationContext(LateModule, { logger: false, abortOnError: false })).rejects.toThrow(message);
  });

  it('that is not declared as such fails', () => {
    const { Outer } = late(async () => false, false);
    expect(() => CompiledDto.of(Outer)?.parse({ late: { name: 'x' } })).toThrow(message);
  });
});
