import { readText, workspaceFiles } from '@animal-store/checks/workspace';
import { expect, it } from '@jest/globals';

const page = readText('docs/commands.md');
const first = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name]) => name).sort();

it('docs/commands.md lists every npm script', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  expect(first(/^- `npm (?:run )?(?:--silent )?([a-z-]+)/gm)).toEqual(Object.keys(scripts).sort());
});

it('docs/commands.md lists every verify suite', () => {
  const suites = new Set(workspaceFiles().flatMap((file) => /\/([\w-]+)\.verify\.ts$/.exec(file)?.[1] ?? []));
  expect(first(/^- `([a-z-]+)`/gm)).toEqual([...suites, 'mutation'].sort());
});
