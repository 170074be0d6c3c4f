import { readText } from '@animal-store/checks/workspace';
import { markdownTable } from './markdown-table.js';

/** The last recorded run of an area of stryker.config.mjs, as in docs/mutation-scores.json. */
interface MutationScore {
  readonly area: string;
  readonly mutants: number;
  readonly detected: number;
  readonly date: string;
  readonly commit: string;
}

export const readMutationScores = () => JSON.parse(readText('docs/mutation-scores.json')) as MutationScore[];

export function renderMutationScores(scores: readonly MutationScore[]): string {
  const rows = scores.map(({ area, mutants, detected, date, commit }) => [
    `\`${area}\``,
    mutants.toLocaleString('en'),
    `${((100 * detected) / mutants).toFixed(1)} %`,
    date,
    commit,
  ]);
  return `\n## Mutation tests

\`AREA=client npm run verify -- mutation\` changes the code of an area, one place at a time. It fails if specs detect less than 85 % of the changes, in \`rules\` (kernel, domain, application) 90 %. \`AREA=client npx nx record-mutation test-runner\` records a run. An area without a row has no complete run.

${markdownTable([['Area', 'Changes', 'Detected', 'Date', 'Commit'], ...rows])}`;
}
