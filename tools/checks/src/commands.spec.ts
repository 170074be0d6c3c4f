import { expect, it } from '@jest/globals';
import { readText } from './workspace.js';

/** npm scripts that only other npm scripts run. */
const UNLISTED_SCRIPTS = ['verify'];

it('docs/commands.md lists every npm script', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
  const listed = [...readText('docs/commands.md').matchAll(/^\| `npm (?:run )?(?:--silent )?([a-z:-]+)/gm)].map(([, name]) => name);
  expect([...listed].sort()).toEqual(
    Object.keys(scripts)
      .filter((name) => !UNLISTED_SCRIPTS.includes(name))
      .sort(),
  );
});
