import { hash } from 'node:crypto';

const BEARER = 'Bearer ';
const CACHE_TTL_MS = 30_000;

/** Returns the hash under which the key is stored, or undefined if there is no bearer token. */
export function hashOfBearer(header: string | undefined): string | undefined {
  return header?.startsWith(BEARER) ? hash('sha256', header.slice(BEARER.length), 'hex') : undefined;
}

/** Hashes of the keys that were accepted in the last thirty seconds. */
export class KeyCache {
  private readonly until = new Map<string, number>();

  has(keyHash: string): boolean {
    return (this.until.get(keyHash) ?? 0) > Date.now();
  }

  add(keyHash: string): void {
    this.until.set(keyHash, Date.now() + CACHE_TTL_MS);
  }
}

export const UNAUTHORIZED = { code: 'invalid_api_key', message: 'An API key is required.', status: 401 };

/** Prints the port of this peer for the parent process. The peer in Go prints the same text. */
export function printPort(port: number): void {
  console.log(`listening ${port}`);
}

/** @throws Error if the environment variable is not set */
export function requiredVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
