import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Linter } from 'eslint';
import { type BoundaryLinter, NEW_CONTEXT, openBoundaryLinter } from './boundary-linter.js';
import { BOUNDARIES, GLOBALS, IMPORTS, type Probe, PROBES, SYNTAX } from './boundary-probes.js';
import { contextsOf, type Project, readProjects, ROOT, tagOf } from './workspace.js';

/** Layers that may import the domain of their own context. */
const USES_DOMAIN = ['application', 'infrastructure', 'http', 'testing'];

let linter: BoundaryLinter;
beforeAll(async () => {
  linter = await openBoundaryLinter();
});
afterAll(() => linter.close());

const projects = readProjects();
const contexts = contextsOf(projects);

/**
 * Probes of the rule that contexts can import only the contracts of each other, and in specs their test support. A new context needs no
 * configuration for this.
 */
const contextProbes: readonly Probe[] = [
  ...contexts.map((context) => ({ context, root: userOfDomain(context).root, other: NEW_CONTEXT })),
  { context: NEW_CONTEXT, root: `libs/${NEW_CONTEXT}/application`, other: 'pets' },
].flatMap(({ context, root, other }) => {
  const exportsFrom = (library: string) => `export * from '@animal-store/${library}';\n`;
  const probe = { message: `"scope:${context}"`, rule: BOUNDARIES, file: `${root}/src/probe.ts` };
  return [
    { ...probe, forbidden: exportsFrom(`${other}-domain`), legal: exportsFrom(`${context}-domain`) },
    { ...probe, forbidden: exportsFrom(`${other}-domain`), legal: exportsFrom(`${other}-contract`) },
    { ...probe, file: `${root}/src/probe.spec.ts`, forbidden: exportsFrom(`${other}-domain`), legal: exportsFrom(`${other}-testing`) },
  ];
});

function userOfDomain(context: string): Project {
  const found = projects.find((project) => tagOf(project, 'scope') === context && USES_DOMAIN.includes(tagOf(project, 'layer') ?? ''));
  if (!found) throw new Error(`no project of the context ${context} uses its domain`);
  return found;
}

const probes = [...PROBES, ...contextProbes];

describe('each rule, and no other, reports forbidden code; no rule reports legal code', () => {
  it.each(probes.map((probe) => [`${probe.file}: ${probe.forbidden.trim()}`, probe] as const))('%s', async (_, probe) => {
    expect(await linter.lint(probe.file, probe.forbidden)).toEqual([
      { ruleId: probe.rule, message: expect.stringContaining(probe.message) },
    ]);
    expect(await linter.lint(probe.file, probe.legal)).toEqual([]);
  });
});

it('each row of the rules has a probe', async () => {
  const fired = new Set<string>();
  for (const { file, forbidden } of probes) for (const { message } of await linter.lint(file, forbidden)) fired.add(message);

  const rows = new Set<string>();
  for (const { root } of linter.projects) {
    for (const name of [
      'probe.ts',
      'probe.spec.ts',
      'probe.module.ts',
      'testing/probe.ts',
      ...foldersOf(root).map((folder) => `${folder}/probe.ts`),
    ]) {
      for (const row of messagesOf(await linter.rulesOf(`${root}/src/${name}`))) rows.add(row);
    }
  }
  const without = [...rows].filter((row) => ![...fired].some((message) => message.includes(row)));
  expect(without).toEqual([]);
  expect(rows.size).toBeGreaterThan(20);
});

interface DependencyRow {
  readonly sourceTag: string;
  readonly onlyDependOnLibsWithTags: readonly string[];
}

/** Returns the messages that the import rules can report. A row of `depConstraints` that allows every project has no message. */
function messagesOf(rules: Linter.RulesRecord): string[] {
  const optionsOf = <T>(rule: string): T[] => ((rules[rule] as unknown[] | undefined) ?? []).slice(1) as T[];
  const [{ depConstraints } = { depConstraints: [] }] = optionsOf<{ depConstraints: DependencyRow[] }>(BOUNDARIES);
  const names = { layer: namesOf('layer'), scope: namesOf('scope') };
  return [
    ...depConstraints
      .filter(({ sourceTag, onlyDependOnLibsWithTags: allowed }) => {
        const kind = sourceTag.startsWith('layer:') ? 'layer' : 'scope';
        return names[kind].some((name) => !allowed.includes(`${kind}:${name}`));
      })
      .map(({ sourceTag, onlyDependOnLibsWithTags: allowed }) =>
        allowed.length === 0
          ? `A project tagged with "${sourceTag}" cannot depend on any libs with tags`
          : `A project tagged with "${sourceTag}" can only depend on libs tagged with ${allowed.map((tag) => `"${tag}"`).join(', ')}`,
      ),
    ...optionsOf<{ patterns?: { message: string }[] }>(IMPORTS).flatMap(({ patterns = [] }) => patterns.map(({ message }) => message)),
    ...optionsOf<{ message: string }>(SYNTAX).map(({ message }) => message),
    ...optionsOf<{ message: string }>(GLOBALS).map(({ message }) => message),
  ].map((message) => message.replace(/\.$/, ''));
}

function foldersOf(root: string): string[] {
  const src = join(ROOT, root, 'src');
  if (!existsSync(src)) return [];
  return readdirSync(src, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
}

function namesOf(kind: 'layer' | 'scope'): string[] {
  return linter.projects.map((project) => tagOf(project, kind) ?? '');
}
