import { basename, posix } from 'node:path';
import type { FaultRecord } from '@animal-store/faults/fault-record';
import { barChart } from '@animal-store/faults/bar-chart';
import { table } from '@animal-store/faults/table';
import { readText, workspaceFiles } from '@animal-store/checks/workspace';

/** In the order of docs/how-we-know.md. */
const GROUPS = [
  'Rate limits',
  'Keys and clients',
  'Reads and writes',
  'Events and jobs',
  'Overload',
  'Starting and stopping',
  'Migrations',
  'Connections',
  'Backups and failover',
  'Observability',
  'Teams',
];

const COMMENT = /^ *\/\/ Promise \(([^)]+)\): (.+)$/;

const TEST = /^ *(?:describe|it)\b/;

/** The faults of a suite without recorded results. */
const FAULTS = /^\/\/ Faults: (.+)$/m;

const OUTAGE = 'No writes, s';
const AFTER_NEW_PRIMARY = 'After new primary, s';
const ERRORS = 'Errors';
const RECOVERY = 'Recovery, s';
const REQUESTS = 'Requests';
const SILENT = 'Without response';
/** In the folder docs. */
export const OUTAGES = 'how-we-know-outages.generated.svg';

/** What the faults of a suite are injected into, by its file. */
const SETTINGS: Readonly<Record<string, string>> = {
  'tools/faults/src/chaos/testing/chaos.verify.ts': 'Twelve clients send requests through a load balancer to one service with two workers.',
  'tools/faults/src/cluster/testing/cluster.verify.ts':
    'The cluster has three nodes on one machine, with PostgreSQL 15 and Patroni from Debian 12. Patroni has a `ttl` of 10 s. ' +
    'If you set `ttl` to 20 s, expect outages of up to 26 s ([operations](operations.md#highly-available-postgresql)).',
};

interface Promised {
  readonly group: string;
  readonly text: string;
  readonly file: string;
}

/**
 * Returns the promises in the comments `// Promise (<group>): <text>` of a file.
 * @throws Error if a comment has an unknown group, or is not directly above a test
 */
export function promisesIn(file: string, source: string): Promised[] {
  const lines = source.split('\n');
  return lines.flatMap((line, index) => {
    const [, group, text] = COMMENT.exec(line) ?? [];
    if (group === undefined || text === undefined) return [];
    const next = lines.slice(index + 1).find((other) => !COMMENT.test(other)) ?? '';
    if (!TEST.test(next)) throw new Error(`${file}:${String(index + 1)}: a promise must be directly above describe or it`);
    if (!GROUPS.includes(group)) throw new Error(`${file}:${String(index + 1)}: the group must be one of ${GROUPS.join(', ')}`);
    return [{ group, text, file }];
  });
}

const INTRODUCTION = `# How we know

Each promise links to a test. [Commands](commands.md) explains how to run a test. To find more tests of a promise, search the code for \`Promise (\`. The [glossary](../CONTRIBUTING.md#glossary) and [Events](adding-a-context.md#6-events) explain the terms.
`;

const readRecords = () => JSON.parse(readText('docs/how-we-know.json')) as FaultRecord[];

/** Returns a chart of the seconds without writes. */
export function renderOutages(): string {
  const faults = readRecords().flatMap((record) => record.faults.filter(({ figures }) => OUTAGE in figures));
  return barChart({
    title: 'Seconds without writes, by fault',
    note: 'Three nodes with PostgreSQL and Patroni.',
    labelWidth: 0,
    textWidth: 40,
    groups: faults.map(({ fault, figures: { [OUTAGE]: seconds = NaN } }) => ({
      title: fault,
      bars: [{ label: '', color: 'blue', value: seconds, text: String(seconds) }],
    })),
  });
}

/** Returns the text of docs/how-we-know.md. */
export function renderPromises(): string {
  const records = readRecords();
  const sources = workspaceFiles()
    .filter((file) => /^(?:apps|libs|tools)\/.*\.ts$/.test(file))
    .map((file) => ({ file, source: readText(file) }))
    .sort((one, other) => (one.file < other.file ? -1 : 1));
  const promises = sources.flatMap(({ file, source }) => promisesIn(file, source));
  const linksTo = (file: string) =>
    promises.flatMap((promise) => (promise.file === file ? `[${promise.text}](${posix.join('..', file)})` : [])).join(' ');
  const suites = sources.flatMap(({ file, source }) => {
    const [, faults] = (file.endsWith('.verify.ts') && FAULTS.exec(source)) || [];
    return faults === undefined ? [] : [{ file, line: `- \`${basename(file, '.verify.ts')}\`: ${faults} ${linksTo(file)}\n` }];
  });
  const withFaults = [...suites.map(({ file }) => file), ...records.map(({ suite }) => suite)];
  const inFaults = new Set(promises.filter(({ file }) => withFaults.includes(file)).map(({ text }) => text));
  const sections = GROUPS.map((group) => {
    const ofGroup = promises.filter((promise) => promise.group === group && !inFaults.has(promise.text));
    const items = [...Map.groupBy(ofGroup, ({ text }) => text).values()].map(
      ([first]) => first && `- [${first.text}](${posix.join('..', first.file)})\n`,
    );
    return items.length === 0 ? '' : `\n## ${group}\n\n${items.join('')}`;
  });
  const recorded = records.map((record) => `\n### \`${record.command}\`\n\n${linksTo(record.suite)}\n\n${describe(record)}`);
  return `${INTRODUCTION}
## Injected faults

Each duration is the longest in all runs, rounded to 0.1 s. Each count is the sum over all runs.
${recorded.join('')}
### Each run of \`npm run verify -- <suite>\`

${suites.map(({ line }) => line).join('')}${sections.join('')}`;
}

function describe({ suite, machine, date, commit, verdict, faults }: FaultRecord): string {
  const { acknowledged, lost, duplicates } = verdict;
  const isOutage = faults.some(({ figures }) => OUTAGE in figures);
  const columns = isOutage ? [OUTAGE, AFTER_NEW_PRIMARY] : [RECOVERY, REQUESTS, SILENT];
  const rows = faults.map(({ fault, figures }) => [fault, ...columns.map((name) => figures[name]?.toLocaleString('en') ?? '–')]);
  return `${SETTINGS[suite] ?? ''} The figures were measured on ${date} at commit ${commit}, on ${machine.replace(', Node', ' with Node')}. Of ${format(acknowledged)} acknowledged writes, ${format(lost)} were lost and ${format(duplicates)} were stored twice. ${isOutage ? describeOutages(faults) : RECOVERIES}

${table(['Fault', ...columns], rows)}
`;
}

type Faults = FaultRecord['faults'];

const format = (count: number) => count.toLocaleString('en');

function describeOutages(faults: Faults): string {
  const errors = faults.reduce((sum, { figures }) => sum + (figures[ERRORS] ?? 0), 0);
  return `Clients retried requests, and ${format(errors)} requests failed in all attempts. The first column has the longest time without a successful creation. The second column has the time from the first commit on a new primary to the next successful creation.

![Seconds without writes, by fault](${OUTAGES})`;
}

const RECOVERIES =
  'The recovery is the time from the end of a fault until creating, listing and getting animals have each succeeded again. ' +
  'The fault `kill -9 of the service` ends when another process listens. While no process listens, the load balancer closes each connection ' +
  'immediately, and clients that only read send the next request within 5 ms, so many requests get no response.';
