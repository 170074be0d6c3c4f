import { expect } from '@jest/globals';

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
/** JSON.parse with its ES2026 signature, which TypeScript does not declare yet. */
export const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown;

const JSON_INTEGER = /^(?:0|-?[1-9][0-9]*)$/;

/** Parses JSON in which every number must be written as an integer. Returns each as a bigint, since a number would round it. */
function parseExact(text: string): unknown {
  return parseWithSource(text, (_key, value, { source }) => {
    if (typeof value !== 'number') return value;
    if (source === undefined || !JSON_INTEGER.test(source)) throw new Error(`${source} is not written as an integer`);
    return BigInt(source);
  });
}

/** A valid body of createPet. */
export const NEW_PET = '{"name":"Rex","categoryId":7}';

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: 'available' | 'pending' | 'sold';
}

/** Parses a Pet with exactly its four members. */
export function readPet(text: string): Pet {
  const pet = parseExact(text);
  expectPet(pet);
  return pet;
}

/** Parses an array of Pets. */
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
