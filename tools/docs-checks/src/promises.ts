import { posix } from 'node:path';
import { readText, workspaceFiles } from '@animal-store/checks/workspace';

/** In the order of docs/promises.md. */
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

const INTRODUCTION = `# Promises

Each promise links to a test. To find its other tests, search for \`Promise (\`. \`npx nx documents docs-checks\` writes this page.
`;

/** Returns the text of docs/promises.md. */
export function renderPromises(promises: readonly Promised[]): string {
  const sections = GROUPS.map((group) => {
    const ofGroup = promises.filter((promise) => promise.group === group);
    const items = [...Map.groupBy(ofGroup, ({ text }) => text).values()].map(
      ([first]) => first && `- [${first.text}](${posix.join('..', first.file)})\n`,
    );
    return `\n## ${group}\n\n${items.join('')}`;
  });
  return `${INTRODUCTION}${sections.join('')}`;
}
