import { readFileSync } from 'node:fs';
import { query } from '@animal-store/local-postgres/testing';

const DOCUMENT = new URL('../../../docs/openapi.json', import.meta.url);

interface OpenApiDocument {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, unknown> }>>;
}

export type Operation = 'createPet' | 'listPets' | 'getPet';

const ROUTE_OF: Record<Operation, [path: string, method: string]> = {
  createPet: ['/pets', 'post'],
  listPets: ['/pets', 'get'],
  getPet: ['/pets/{petId}', 'get'],
};

export interface Verdict {
  readonly acknowledged: number;
  readonly stored: number;
  readonly lost: number;
  readonly duplicates: number;
}

/** Records the responses that clients received, and compares acknowledged creations with the stored rows. */
export class Ledger {
  readonly problems: string[] = [];
  readonly statuses = new Map<number, number>();
  private readonly acknowledged = new Map<string, string>();
  private readonly document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApiDocument;

  /** Records a response. An unexpected error, an undocumented status or an invalid error body is a problem. */
  recordResponse(operation: Operation, status: number, text: string, times = 1): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + times);
    if (status === 500) this.addProblem(`${operation} returned 500: ${text}`);
    const [path, method] = ROUTE_OF[operation];
    if (!(status in (this.document.paths[path]?.[method]?.responses ?? {})))
      this.addProblem(`${operation} returned ${status}, which is not documented: ${text}`);
    if (status >= 400 && !hasErrorShape(text, status))
      this.addProblem(`${operation} returned ${status} without a valid error body: ${text}`);
  }

  /** Records an acknowledged creation, with the `id` of the response. */
  recordCreation(name: string, id: string): void {
    const before = this.acknowledged.get(name);
    if (before !== undefined && before !== id) this.addProblem(`${name} was acknowledged with the ids ${before} and ${id}`);
    this.acknowledged.set(name, id);
  }

  addProblem(text: string): void {
    if (this.problems.length < 20) this.problems.push(text.slice(0, 300));
    else this.problems[20] = '… and more';
  }

  async compare(databaseUrl: string): Promise<Verdict> {
    const rows = await query<{ id: string; name: string }>(databaseUrl, `SELECT id::text, name FROM pets.pets WHERE name LIKE 'chaos %'`);
    const stored = new Map(rows.map(({ id, name }) => [id, name]));
    const lost = [...this.acknowledged].filter(([name, id]) => stored.get(id) !== name);
    for (const [name, id] of lost.slice(0, 5)) this.addProblem(`lost: ${name}, acknowledged with id ${id}`);
    const duplicates = rows.length - new Set(rows.map(({ name }) => name)).size;
    if (duplicates > 0) this.addProblem(`${duplicates} animals are duplicates`);
    return { acknowledged: this.acknowledged.size, stored: rows.length, lost: lost.length, duplicates };
  }
}

function hasErrorShape(text: string, status: number): boolean {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return Object.keys(body).sort().join() === 'code,message,status' && body['status'] === status && typeof body['code'] === 'string';
  } catch {
    return false;
  }
}
