import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Verdict } from './ledger.js';
import { table } from './table.js';

const FILE = new URL('../../../docs/how-we-know.json', import.meta.url);

/** One injection of a fault. */
export interface FaultRun {
  readonly fault: string;
  readonly figures: Readonly<Record<string, number>>;
}

/** The times are the maxima of all runs, the counts their sums. */
interface FaultResult extends FaultRun {
  readonly runs: number;
}

/** The results of one command, as in docs/how-we-know.json. */
export interface FaultRecord {
  readonly command: string;
  /** Its tests have the promises that the faults check. */
  readonly suite: string;
  readonly machine: string;
  readonly date: string;
  readonly commit: string;
  readonly verdict: Verdict;
  readonly faults: readonly FaultResult[];
}

/** Returns a table with a line for each run and a column for each figure. */
export function describeRuns(runs: readonly FaultRun[]): string {
  const names = [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))];
  return table(
    ['fault', ...names],
    runs.map(({ fault, figures }) => [fault, ...names.map((name) => `${figures[name] ?? ''}`)]),
  );
}

export const tenths = (value: number): number => Math.round(value * 10) / 10;

/** Merges the runs of a fault. */
export function mergeRuns(runs: readonly FaultRun[]): FaultResult[] {
  return [...Map.groupBy(runs, ({ fault }) => fault)].map(([fault, ofFault]) => {
    const names = [...new Set(ofFault.flatMap(({ figures }) => Object.keys(figures)))];
    const merged = (name: string) => {
      const values = ofFault.map(({ figures }) => figures[name] ?? 0);
      return name.endsWith(', s') ? Math.max(...values) : values.reduce((sum, value) => sum + value);
    };
    return { fault, runs: ofFault.length, figures: Object.fromEntries(names.map((name) => [name, merged(name)])) };
  });
}

/** Returns what identifies a run today, of the current commit. */
function currentRun(): Pick<FaultRecord, 'date' | 'commit'> {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim(),
  };
}

/**
 * Replaces the results of the suite in docs/how-we-know.json. `npm run chaos -- --docs` and
 * `RECORD_FAULTS=1 npm run verify -- cluster --skip-nx-cache` call it. `npx nx documents checks` makes the page of the file.
 */
export function recordFaults({
  runs,
  ...results
}: Pick<FaultRecord, 'command' | 'suite' | 'verdict'> & { readonly runs: readonly FaultRun[] }): void {
  const others = (JSON.parse(readFileSync(FILE, 'utf8')) as FaultRecord[]).filter(({ suite }) => suite !== results.suite);
  const record: FaultRecord = {
    ...results,
    machine: `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'unknown'}, Node.js ${process.version}`,
    ...currentRun(),
    faults: mergeRuns(runs),
  };
  const records = [...others, record].sort((one, other) => one.suite.localeCompare(other.suite));
  writeFileSync(FILE, `${JSON.stringify(records, undefined, 2)}\n`);
}
