import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentRun } from '@animal-store/faults/fault-record';
import { readText, ROOT } from '@animal-store/checks/workspace';

const FILE = 'docs/mutation-scores.json';

/** The last recorded run of an area of stryker.config.mjs. */
export interface MutationScore {
  readonly area: string;
  readonly mutants: number;
  readonly detected: number;
  readonly date: string;
  readonly commit: string;
}

/** https://github.com/stryker-mutator/mutation-testing-elements/blob/master/packages/report-schema */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

export const readMutationScores = () => JSON.parse(readText(FILE)) as MutationScore[];

/** Counts mutants like Stryker: those that do not compile, for example, do not count. */
export function countMutants({ files }: MutationReport): Pick<MutationScore, 'mutants' | 'detected'> {
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (...counted: string[]) => statuses.filter((status) => counted.includes(status)).length;
  const detected = count('Killed', 'Timeout');
  return { mutants: detected + count('Survived', 'NoCoverage'), detected };
}

/** Replaces the score of the area by that of its last run. `npx nx documents checks` makes the page of it. */
function recordMutationScore(area: string): void {
  const report = JSON.parse(readText(`coverage/mutation-${area}.json`)) as MutationReport;
  const { date, commit } = currentRun();
  const others = readMutationScores().filter((other) => other.area !== area);
  const scores = [...others, { area, ...countMutants(report), date, commit }].sort((one, other) => one.area.localeCompare(other.area));
  writeFileSync(join(ROOT, FILE), `${JSON.stringify(scores, undefined, 2)}\n`);
}

export function renderMutationScores(scores: readonly MutationScore[]): string {
  const shares = scores.map(({ mutants, detected }) => (100 * detected) / mutants);
  const [lowest, highest] = [Math.min(...shares).toFixed(1), Math.max(...shares).toFixed(1)];
  const unrecorded = scores.some(({ area }) => area === 'database-sql') ? '' : ' The area `database-sql` has no complete run.';
  return `\n## Mutation tests

\`AREA=client npm run verify -- mutation\` changes the code of the area \`client\`, one place at a time, and runs the specs after each change. The suite fails if the specs detect less than 85 % of the changes. In the area \`rules\` (kernel, domain, application), the minimum is 90 %. In the ${scores.length} recorded areas, the specs detected ${lowest} % to ${highest} % of the changes ([scores](mutation-scores.json)).${unrecorded}
`;
}

// `AREA=client npx nx record-mutation checks`
if (import.meta.main) recordMutationScore(process.env['AREA'] ?? 'rules');
