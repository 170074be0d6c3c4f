import { contextOf, type Project, readProjects, readText, workspaceFiles } from '@animal-store/checks/workspace';
import { describe, expect, it } from '@jest/globals';
import { DOCUMENTS } from './documents.js';
import { countMutants } from './mutation-scores.js';
import { promisesIn } from './promises.js';

const files = workspaceFiles();

it.each(Object.entries(DOCUMENTS))('%s is up to date: `npx nx documents checks` writes it', (file, render) => {
  expect(readText(file)).toBe(render());
});

describe('a promise', () => {
  const promise = '// Promise (Overload): Probes are exempt.';

  it.each([
    [`${promise}\nconst x = 1;\n`, 'a.spec.ts:1: a promise must be directly above describe or it'],
    ['// Promise (Speed): It is fast.\nit(\n', /^a\.spec\.ts:1: the group must be one of Rate limits, /],
  ])('is rejected without a test or with an unknown group: %j', (source, message) => {
    expect(() => promisesIn('a.spec.ts', source)).toThrow(message);
  });
});

it('mutants count as by Stryker', () => {
  const mutants = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'CompileError', 'RuntimeError', 'Ignored'].map((status) => ({ status }));
  expect(countMutants({ files: { 'a.ts': { mutants }, 'b.ts': { mutants: [{ status: 'Killed' }] } } })).toEqual({
    mutants: 5,
    detected: 3,
  });
});

describe('docs/commands.md lists', () => {
  const page = readText('docs/commands.md');
  const first = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, name]) => name).sort();

  it('every npm script', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
    expect(first(/^- `npm (?:run )?(?:--silent )?([a-z-]+)/gm)).toEqual(Object.keys(scripts).sort());
  });

  it('every verify suite', () => {
    const suites = new Set(files.flatMap((file) => /\/([\w-]+)\.verify\.ts$/.exec(file)?.[1] ?? []));
    expect(first(/^- `([a-z-]+)`/gm)).toEqual([...suites, 'mutation'].sort());
  });
});

describe('docs/dependencies.md names exactly', () => {
  const manifest = JSON.parse(readText('package.json')) as Readonly<
    Record<'dependencies' | 'devDependencies' | 'overrides', Record<string, unknown>>
  >;
  const sections = readText('docs/dependencies.md').split(/^## /m);
  const [, deployed = '', development = ''] = sections;
  const versions = sections.find((section) => section.startsWith('Versions\n')) ?? '';

  it.each([
    ['the deployed dependencies', deployed, manifest.dependencies],
    ['the development dependencies', development, manifest.devDependencies],
  ])('%s', (_, section, dependencies) => {
    const explained = [...section.matchAll(/^- `([^`]+)`: /gm)].map(([, name]) => name);
    const [, others = ''] = section.split(/^Others: /m);
    const listed = [...others.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect([...explained, ...listed].sort()).toEqual(Object.keys(dependencies).sort());
  });

  it('the overrides', () => {
    expect(Object.keys(manifest.overrides).filter((name) => !versions.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('the decisions', () => {
  const decisions = files.filter((file) => /^docs\/adr\/\d{4}-/.test(file)).sort();

  it('have numbers without gaps, the sections of a decision, and a line in the index', () => {
    const index = readText('docs/adr/README.md').split('\n');
    for (const [position, file] of decisions.entries()) {
      const text = readText(file);
      const [, number, title] = /^# (\d+)\. (.+)\n\n(?:Status: [^\n]+\n\n)?## Context\n\n/.exec(text) ?? [];
      expect([file, Number(number), Number(/\d{4}/.exec(file)?.[0])]).toEqual([file, position + 1, position + 1]);
      const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, section]) => section);
      expect(['Context', 'Decision', 'Consequences', 'Rejected'].slice(0, Math.max(3, sections.length))).toEqual(sections);
      expect(index).toContain(`- [${number}. ${title}](${file.slice('docs/adr/'.length)})`);
    }
  });

  it('that files refer to exist', () => {
    const referred = files
      .filter((file) => /\.(md|ts|js|mjs|jsonc?|ya?ml|css)$/.test(file) && file !== 'package-lock.json')
      .flatMap((file) =>
        [...readText(file).matchAll(/\bADRs? (\d+(?:(?:, | and )\d+)*)/g)]
          .flatMap(([, list = '']) => list.split(/\D+/))
          .map((number) => ({ file, number: Number(number) })),
      );
    expect(referred.length).toBeGreaterThan(20);
    expect(referred.filter(({ number }) => number < 1 || number > decisions.length)).toEqual([]);
  });
});

describe('READMEs', () => {
  const folderOf = ({ root }: Project) => root.split('/').slice(0, 2).join('/');

  it('of packages have their name; that of a context lists its libraries, which have none', () => {
    for (const [folder, members] of Map.groupBy(readProjects(), folderOf)) {
      const published = members.find(({ isPublished }) => isPublished)?.packageName;
      const text = readText(`${folder}/README.md`);
      expect(text).toMatch(new RegExp(`^# ${published ?? folder.split('/').slice(1).join('-')}\n\n\\S`));
      if (!members.some((project) => contextOf(project) !== undefined)) continue;
      const listed = [...text.matchAll(/^- `([\w-]+)`: /gm)].map(([, library]) => `${folder}/${library}`);
      expect(listed.sort()).toEqual(members.map(({ root }) => root).sort());
    }
    expect(files.filter((file) => /^(?:libs|examples)\/[^/]+\/[^/]+\/README\.md$/.test(file))).toEqual([]);
  });

  it('are joined by a list of contexts in docs/architecture.md, which ends where the generator of contexts adds one', () => {
    expect(readText('docs/architecture.md')).toMatch(/^- \[`libs\/[a-z-]+`\].*\n\n\*\*Platform\*\*$/m);
  });
});
