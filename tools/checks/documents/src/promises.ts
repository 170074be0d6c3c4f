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
/** In the folder docs. */
export const OUTAGES = 'how-we-know-outages.generated.svg';

/** What the results of a suite were measured on, by its file. */
const SETTINGS: Readonly<Record<string, string>> = {
  'tools/faults/src/cluster/testing/cluster.verify.ts': 'Three nodes on one machine, with the PostgreSQL 15 and Patroni of Debian 12. ',
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

Each promise links to a test, which \`npm run jest -- <file>\` runs in a built workspace. To find its other tests, search for \`Promise (\`. \`npx nx documents checks\` writes this page. Times are the worst of all runs, in seconds rounded to 0.1. Counts are sums. Only killed processes, cut connections and full descriptor tables leave requests without a response. Their clients see a closed connection, and repeat creations with the same key. \`npm run chaos -- --docs\` and \`RECORD_FAULTS=1 npm run verify -- cluster --skip-nx-cache\` record the figures.
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
${recorded.join('')}
### Each run of \`npm run verify -- <suite>\`

${suites.map(({ line }) => line).join('')}${sections.join('')}`;
}

function describe({ suite, machine, date, commit, verdict, faults }: FaultRecord): string {
  const columns = [...new Set(faults.flatMap(({ figures }) => Object.keys(figures)))];
  const cells = faults.map(({ figures }) => columns.map((name) => figures[name]?.toLocaleString('en') ?? '–'));
  const isSame = columns.map((_, column) => new Set(cells.map((row) => row[column])).size === 1);
  const varying = <T>(row: readonly T[]) => row.filter((_, column) => !isSame[column]);
  const same = columns.flatMap((name, column) => (isSame[column] ? ` ${name}: ${cells[0]?.[column]}.` : [])).join('');
  const chart = columns.includes(OUTAGE) ? `![Seconds without writes, by fault](${OUTAGES})\n\n` : '';
  const rows = faults.map(({ fault }, index) => [fault, ...varying(cells[index] ?? [])]);
  const writes = `${verdict.acknowledged.toLocaleString('en')} acknowledged writes: ${verdict.lost} lost, ${verdict.duplicates} repeated.`;
  return `${SETTINGS[suite] ?? ''}${machine}, ${date}, commit ${commit}. ${writes}${same}\n\n${chart}${table(['Fault', ...varying(columns)], rows)}\n`;
}
