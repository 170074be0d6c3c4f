import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Records the last run of the mutation tests of AREA in docs/mutation-scores.json. `npx nx documents docs-checks` makes the page of it. */
const FILE = 'docs/mutation-scores.json';
const { AREA: area = 'rules' } = process.env;

/** https://github.com/stryker-mutator/mutation-testing-elements/blob/master/packages/report-schema */
interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

const report = JSON.parse(readFileSync(`coverage/mutation-${area}.json`, 'utf8')) as Report;
const statuses = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
const count = (...counted: string[]) => statuses.filter((status) => counted.includes(status)).length;
const detected = count('Killed', 'Timeout');
const score = {
  area,
  mutants: detected + count('Survived', 'NoCoverage'),
  detected,
  date: new Date().toISOString().slice(0, 10),
  commit: execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim(),
};
const others = (JSON.parse(readFileSync(FILE, 'utf8')) as (typeof score)[]).filter((other) => other.area !== area);
const scores = [...others, score].sort((one, other) => one.area.localeCompare(other.area));
writeFileSync(FILE, `${JSON.stringify(scores, undefined, 2)}\n`);
