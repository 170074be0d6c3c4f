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
  const statements = mostByPlace(Object.entries(seen.statementMap).map(([id, { start }]) => [placeOf(start), seen.s[id]]));
  for (const [id, { start }] of Object.entries(known.statementMap)) known.s[id] = plus(known.s[id], statements.get(placeOf(start)));

  const functions = mostByPlace(Object.entries(seen.fnMap).map(([id, { loc }]) => [placeOf(loc.start), seen.f[id]]));
  for (const [id, { loc }] of Object.entries(known.fnMap)) known.f[id] = plus(known.f[id], functions.get(placeOf(loc.start)));

  const arms = mostByPlace(armsOf(seen).map(({ place, count }) => [place, count]));
  for (const { id, arm, place, count } of armsOf(known)) known.b[id]?.splice(arm, 1, plus(count, arms.get(place)));
}

function armsOf({ branchMap, b }: FileCoverage): { id: string; arm: number; place: string; count: number }[] {
  return Object.entries(branchMap).flatMap(([id, { type, loc }]) =>
    [...(b[id] ?? [])].map((count, arm) => ({ id, arm, place: `${type} ${placeOf(loc.start)} ${arm}`, count })),
  );
}

/** Of two that begin at one place the one that was reached more often. */
function mostByPlace(entries: readonly (readonly [string, number | undefined])[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const [place, count] of entries) most.set(place, Math.max(plus(count), plus(most.get(place))));
  return most;
}

/** What is not there counts as zero. */
function plus(one: number | undefined, other: number | undefined = 0): number {
  return (one ?? 0) + other;
}

const placeOf = ({ line, column }: Location) => `${line}:${column}`;
