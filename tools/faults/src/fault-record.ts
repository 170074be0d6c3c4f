import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Verdict } from './ledger.js';

const FILE = new URL('../../../docs/how-we-know.json', import.meta.url);

interface FaultResult {
  readonly fault: string;
  readonly runs: number;
  /** Maxima of all runs by name. */
  readonly figures: Readonly<Record<string, number>>;
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

/** Merges the runs of a fault: the figures of the result are their maxima. */
export function mergeRuns(runs: readonly Omit<FaultResult, 'runs'>[]): FaultResult[] {
  return [...Map.groupBy(runs, ({ fault }) => fault)].map(([fault, ofFault]) => {
    const names = [...new Set(ofFault.flatMap(({ figures }) => Object.keys(figures)))];
    return {
      fault,
      runs: ofFault.length,
      figures: Object.fromEntries(names.map((name) => [name, Math.max(...ofFault.map(({ figures }) => figures[name] ?? 0))])),
    };
  });
}

/** Returns what identifies a run today, of the current commit. */
export function currentRun(): Pick<FaultRecord, 'date' | 'commit'> {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim(),
  };
}

/** Replaces the results of the suite in docs/how-we-know.json. `npx nx documents checks` makes the page of it. */
export function recordFaults(results: Pick<FaultRecord, 'command' | 'suite' | 'verdict' | 'faults'>): void {
  const others = (JSON.parse(readFileSync(FILE, 'utf8')) as FaultRecord[]).filter(({ suite }) => suite !== results.suite);
  const record: FaultRecord = {
    ...results,
    machine: `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'unknown'}, Node.js ${process.version}`,
    ...currentRun(),
  };
  const records = [...others, record].sort((one, other) => one.suite.localeCompare(other.suite));
  writeFileSync(FILE, `${JSON.stringify(records, undefined, 2)}\n`);
}
