interface Location {
  readonly line: number;
  readonly column: number;
}

interface Range {
  readonly start: Location;
}

/** Of one file: what there is to count, and how often each was reached; as in the JSON files of Istanbul. */
export interface FileCoverage {
  readonly statementMap: Readonly<Record<string, Range>>;
  readonly fnMap: Readonly<Record<string, { readonly loc: Range }>>;
  readonly branchMap: Readonly<Record<string, { readonly type: string; readonly loc: Range }>>;
  s: Record<string, number>;
  f: Record<string, number>;
  /** For each arm of the branch. */
  b: Record<string, number[]>;
}

/** By absolute path. */
export type Coverage = Readonly<Record<string, FileCoverage>>;

/**
 * Counts in `coverage` what `seen` saw too. The two come from different compilers, which agree on where a statement,
 * a function or a branch begins in the source and not always on where it ends; what only `seen` knows is left out.
 */
export function addHits(coverage: Coverage, seen: Coverage): void {
  for (const [path, entry] of Object.entries(seen)) {
    const known = coverage[path];
    if (known) addHitsOfFile(known, entry);
  }
}

function addHitsOfFile(known: FileCoverage, seen: FileCoverage): void {
  const statements = hitsByStart(Object.entries(seen.statementMap).map(([id, { start }]) => [start, seen.s[id] ?? 0]));
  for (const [id, { start }] of Object.entries(known.statementMap)) known.s[id] = (known.s[id] ?? 0) + (statements.get(keyOf(start)) ?? 0);

  const functions = hitsByStart(Object.entries(seen.fnMap).map(([id, { loc }]) => [loc.start, seen.f[id] ?? 0]));
  for (const [id, { loc }] of Object.entries(known.fnMap)) known.f[id] = (known.f[id] ?? 0) + (functions.get(keyOf(loc.start)) ?? 0);

  const branches = new Map(
    Object.entries(seen.branchMap).map(([id, { type, loc }]) => [`${type} ${keyOf(loc.start)}`, seen.b[id] ?? []] as const),
  );
  for (const [id, { type, loc }] of Object.entries(known.branchMap)) {
    const hits = branches.get(`${type} ${keyOf(loc.start)}`);
    known.b[id] = (known.b[id] ?? []).map((count, arm) => count + (hits?.[arm] ?? 0));
  }
}

function hitsByStart(entries: readonly (readonly [Location, number])[]): Map<string, number> {
  const hits = new Map<string, number>();
  for (const [start, count] of entries) hits.set(keyOf(start), Math.max(count, hits.get(keyOf(start)) ?? 0));
  return hits;
}

const keyOf = ({ line, column }: Location) => `${line}:${column}`;
