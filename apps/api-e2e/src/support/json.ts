import { expect } from '@jest/globals';

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
/** The ES2026 signature of JSON.parse, which TypeScript's library does not know yet. */
export const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

const JSON_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** Reads JSON in which every number must be an integer written as one; each comes back as a bigint, since a number would round it. */
function parseExact(text: string): unknown {
  return parseWithSource(text, (_key, value, { source }) => {
    if (typeof value !== 'number') return value;
    if (source === undefined || !JSON_INTEGER.test(source)) throw new Error(`${source} is not written as an integer`);
    return BigInt(source);
  });
}

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: 'available' | 'pending' | 'sold';
}

/** A Pet with its four members and no other. */
export function readPet(text: string): Pet {
  const pet = parseExact(text);
  expectPet(pet);
  return pet;
}

/** A bare array of Pets. */
export function readPets(text: string): Pet[] {
  const pets = parseExact(text);
  if (!Array.isArray(pets)) throw new Error(`not an array: ${text.slice(0, 100)}`);
  return pets.map((pet: unknown) => {
    expectPet(pet);
    return pet;
  });
}

function expectPet(value: unknown): asserts value is Pet {
  expect(value).toStrictEqual({
    id: expect.any(BigInt),
    name: expect.any(String),
    categoryId: expect.any(BigInt),
    status: expect.stringMatching(/^(?:available|pending|sold)$/),
  });
}
