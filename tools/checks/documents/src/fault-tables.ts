import { basename, posix } from 'node:path';
import type { FaultRecord } from '@animal-store/faults/fault-record';
import { table } from '@animal-store/faults/table';
import { readText } from '@animal-store/checks/workspace';

interface Promised {
  readonly text: string;
  readonly file: string;
}

const RUNS = 'Runs of each fault';

/** Suites without recorded results. The numbers that the pattern finds in the code, in ascending order, replace `#`. */
const SUITES: readonly { readonly file: string; readonly pattern: RegExp; readonly fault: string }[] = [
  {
    file: 'libs/database/src/testing/event-delivery.verify.ts',
    pattern: /^const KILLS = ([\d_]+);/gm,
    fault: '# kills of processes that handle events',
  },
  {
    file: 'apps/service-e2e/src/workers.verify.ts',
    pattern: /^const MAX_CRASHES = ([\d_]+);/gm,
    fault:
      'more than # kills of workers without a database; workers that crash, hang or cannot be started; no free file descriptors; two workers that wait for another migrating process',
  },
  {
    file: 'apps/service-e2e/src/backup.verify.ts',
    pattern: /^const CREATIONS = ([\d_]+);/gm,
    fault: 'restore after # creations and more during the backup',
  },
  {
    file: 'apps/service-e2e/src/rolling-upgrade.verify.ts',
    pattern: /^const PETS = ([\d_]+);/gm,
    fault: 'both versions at once, with # animals',
  },
  {
    file: 'apps/service-e2e/src/redis.verify.ts',
    pattern: /^const LIMIT = ([\d_]+);/gm,
    fault: 'Redis stopped, then frozen, with a limit of # requests',
  },
  { file: 'tools/checks/contexts/src/fuzz/fuzz.verify.ts', pattern: /\?\? ([\d_]+)\);/g, fault: '# hostile requests' },
];

/** What the results of a suite were measured on, by its file. */
const SETTINGS: Readonly<Record<string, string>> = {
  'tools/faults/src/cluster/testing/cluster.verify.ts': 'Three nodes on one machine, with the PostgreSQL 15 and Patroni of Debian 12. ',
};

export const readRecords = () => JSON.parse(readText('docs/how-we-know.json')) as FaultRecord[];

/** Returns whether the section of faults has the promise. */
export const isInFaults = (file: string, records: readonly FaultRecord[]) =>
  [...SUITES.map((suite) => suite.file), ...records.map(({ suite }) => suite)].includes(file);

/** Returns the section of the recorded faults and of those that are described by the code. */
export function renderFaults(promises: readonly Promised[], records: readonly FaultRecord[]): string {
  const promisedIn = (file: string) =>
    promises.flatMap((promise) => (promise.file === file ? `[${promise.text}](${posix.join('..', file)})` : [])).join(' ');
  const suites = SUITES.map(({ file, pattern, fault }) => {
    const numbers = [...readText(file).matchAll(pattern)]
      .map(([, digits = '']) => Number(digits.replaceAll('_', '')))
      .sort((a, b) => a - b);
    const next = () => {
      const number = numbers.shift();
      if (number === undefined) throw new Error(`${file} has too few numbers that match ${String(pattern)}`);
      return number.toLocaleString('en');
    };
    return `- \`${basename(file, '.verify.ts')}\`: ${fault.replaceAll('#', next)}. ${promisedIn(file)}`.trimEnd() + '\n';
  });
  const sections = records.map((record) => `\n### \`${record.command}\`\n\n${promisedIn(record.suite)}\n\n${describe(record)}`);
  return `\n## Injected faults\n${sections.join('')}\n### Each run of \`npm run verify -- <suite>\`\n\n${suites.join('')}`;
}

function describe({ suite, machine, date, commit, verdict, faults }: FaultRecord): string {
  const columns = [RUNS, ...new Set(faults.flatMap(({ figures }) => Object.keys(figures)))];
  const cellsOf = ({ runs, figures }: FaultRecord['faults'][number]) =>
    columns.map((name) => (name === RUNS ? runs : (figures[name] ?? '–')));
  const cells = faults.map(cellsOf);
  const isSame = columns.map((_, column) => new Set(cells.map((row) => row[column])).size === 1);
  const varying = <T>(row: readonly T[]) => row.filter((_, column) => !isSame[column]);
  const same = columns.flatMap((name, column) => (isSame[column] ? ` ${name}: ${String(cells[0]?.[column])}.` : [])).join('');
  // Faults with the same results share a row.
  const groups = Map.groupBy(faults, (fault) => varying(cellsOf(fault)).join());
  const rows = [...groups].map(([key, ofGroup]) => [ofGroup.map(({ fault }) => fault).join('; '), ...key.split(',')]);
  const writes = `${verdict.acknowledged.toLocaleString('en')} acknowledged writes: ${verdict.lost} lost, ${verdict.duplicates} repeated.`;
  return `${SETTINGS[suite] ?? ''}${machine}, ${date}, commit ${commit}. ${writes}${same}\n\n${table(['Fault', ...varying(columns)], rows)}\n`;
}
