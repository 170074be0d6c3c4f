import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { readProjects, ROOT } from './workspace.js';

const projects = readProjects();

/** Returns the names of the projects that `nx affected` selects if these files change. */
async function affectedBy(...files: readonly string[]): Promise<string[]> {
  const args = [join(ROOT, 'node_modules/nx/dist/bin/nx.js'), 'show', 'projects', '--affected', '--json', `--files=${files.join()}`];
  const env = { ...process.env, FORCE_COLOR: '0', NX_DAEMON: 'false', NX_TUI: 'false' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  return JSON.parse(stdout) as string[];
}

it('a change in every library of a context but its contract affects the apps, and no other context', async () => {
  const libraries = projects.filter(({ tags }) => tags.includes('scope:pets') && !tags.includes('layer:contract'));
  const affected = await affectedBy(...libraries.map(({ root }) => `${root}/src/changed.ts`));
  const scopes = projects
    .filter(({ name }) => affected.includes(name))
    .flatMap(({ tags }) => tags.filter((tag) => tag.startsWith('scope:')));
  expect(new Set(scopes).difference(new Set(['scope:platform', 'scope:apps', 'scope:tools']))).toEqual(new Set(['scope:pets']));
  expect(affected).toEqual(expect.arrayContaining(['api', 'cli', 'api-e2e']));
});

it('a change of README.md affects only the checks of documents', async () => {
  expect(await affectedBy('README.md')).toEqual(['checks-documents']);
});
