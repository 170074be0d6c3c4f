import { readFileSync } from 'node:fs';
import { requiredVariable } from './listening.js';

/** Response bodies with the same bytes as real ones. */
export interface ConstantAnswers {
  readonly list: string;
  readonly get: string;
  readonly create: string;
  /** SHA-256 of each valid key, for peers that have a guard. */
  readonly keyHashes: readonly string[];
}

/** Reads the file that CONSTANT_ANSWERS names. */
export function readConstantAnswers(): ConstantAnswers {
  return JSON.parse(readFileSync(requiredVariable('CONSTANT_ANSWERS'), 'utf8')) as ConstantAnswers;
}

export const JSON_TYPE = 'application/json; charset=utf-8';
