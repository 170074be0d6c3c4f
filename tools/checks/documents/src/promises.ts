import { posix } from 'node:path';
import type { FaultRecord } from '@animal-store/faults/fault-record';
import { readText, workspaceFiles } from '@animal-store/checks/workspace';
import { isInFaults, renderFaults } from './fault-tables.js';

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

export function readPromises(): Promised[] {
  const sources = workspaceFiles().filter((file) => /^(?:apps|libs|tools)\/.*\.ts$/.test(file));
  return sources.sort().flatMap((file) => promisesIn(file, readText(file)));
}

const INTRODUCTION = `# How we know

Each promise links to a test, which \`npm run jest -- <file>\` runs in a built workspace. To find its other tests, search for \`Promise (\`. \`npx nx documents checks\` writes this page. Figures are the worst of all runs, in seconds rounded to 0.1. Only killed processes may leave requests without response. \`npm run chaos -- --docs\` and \`RECORD_FAULTS=1 npm run verify -- cluster --skip-nx-cache\` record them.
`;

/** Returns the text of docs/how-we-know.md. */
export function renderPromises(promises: readonly Promised[], records: readonly FaultRecord[]): string {
  const withFaults = new Set(promises.filter(({ file }) => isInFaults(file, records)).map(({ text }) => text));
  const sections = GROUPS.map((group) => {
    const ofGroup = promises.filter((promise) => promise.group === group && !withFaults.has(promise.text));
    const items = [...Map.groupBy(ofGroup, ({ text }) => text).values()].map(
      ([first]) => first && `- [${first.text}](${posix.join('..', first.file)})\n`,
    );
    return items.length === 0 ? '' : `\n## ${group}\n\n${items.join('')}`;
  });
  return `${INTRODUCTION}${renderFaults(promises, records)}${sections.join('')}`;
}
