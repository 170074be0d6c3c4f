import { readFileSync } from 'node:fs';
import { requiredVariable } from './peer-process.js';

/** Response bodies with the same bytes as real ones. */
export interface ConstantResponses {
  readonly list: string;
  readonly get: string;
  readonly create: string;
  /** SHA-256 of each valid key, for peers that have a guard. */
  readonly keyHashes: readonly string[];
}

/** Reads the file that CONSTANT_ANSWERS names. */
export function readConstantResponses(): ConstantResponses {
  return JSON.parse(readFileSync(requiredVariable('CONSTANT_ANSWERS'), 'utf8')) as ConstantResponses;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
