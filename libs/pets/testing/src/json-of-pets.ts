import type { JsonText } from '@animal-store/kernel';
import type { PetView } from '@animal-store/pets-domain';

/** What the pets of a page are as JSON, byte for byte. */
export function jsonOfPets(pets: readonly PetView[]): string {
  return `[${pets.map(jsonOfPet).join(',')}]`;
}

function jsonOfPet({ id, name, categoryId, status }: PetView): string {
  return `{"id":${String(id)},"name":${JSON.stringify(name)},"categoryId":${String(categoryId)},"status":"${status}"}`;
}

/** The pets of a page, digit for digit. */
export function petsOf({ text }: JsonText<readonly PetView[]>): PetView[] {
  return JSON.parse(text, exactIntegers) as PetView[];
}

// ECMAScript 2026 gives the source text of a primitive as the third argument.
function exactIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? BigInt(context.source) : value;
}
