import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Linter } from 'eslint';
import { type Project, readProjects, readText, ROOT } from './workspace.js';

/** The name of a context that does not exist: the rules must apply to any context. */
export const NEW_CONTEXT = 'planted';

export interface Finding {
  readonly ruleId: string | null;
  readonly message: string;
}

export interface BoundaryLinter {
  readonly projects: readonly Project[];
  /** Returns the findings in a file, which need not exist. Several tests ask for the same ones, which take milliseconds each. */
  lint(file: string, code: string): Promise<readonly Finding[]>;
  rulesOf(file: string): Promise<Linter.RulesRecord>;
  close(): Promise<void>;
}

/**
 * Runs ESLint with the workspace's configuration and a separate project graph: the workspace's projects and a new
 * context, without the dependencies between them, so that a violation in a test is never reported as an import cycle.
 */
export async function openBoundaryLinter(): Promise<BoundaryLinter> {
  const projects = [...readProjects(), ...newContext()];
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-boundaries-'));
  await writeFile(join(folder, 'project-graph.json'), JSON.stringify(graphOf(projects)));
  await writeFile(join(folder, 'file-map.json'), JSON.stringify({ fileMap: { projectFileMap: {}, nonProjectFiles: [] } }));

  // Nx reads the path of the graph when it is loaded.
  process.env['NX_WORKSPACE_DATA_DIRECTORY'] = folder;
  process.env['NX_TASK_TARGET_PROJECT'] = 'checks';
  const [eslint, typescript] = await Promise.all([import('eslint'), import('typescript-eslint')]);
  // Rules with types would need the files to exist.
  const linter = new eslint.ESLint({ cwd: ROOT, overrideConfig: [typescript.default.configs.disableTypeChecked] });

  const lint = async (file: string, code: string) => {
    const results = await linter.lintText(code, { filePath: join(ROOT, file) });
    return results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => ({ ruleId, message })));
  };
  const findings = new Map<string, ReturnType<typeof lint>>();
  return {
    projects,
    lint(file, code) {
      const key = `${file}\n${code}`;
      const found = findings.get(key) ?? lint(file, code);
      findings.set(key, found);
      return found;
    },
    async rulesOf(file) {
      const { rules } = (await linter.calculateConfigForFile(join(ROOT, file))) as { rules: Linter.RulesRecord };
      return rules;
    },
    close: () => rm(folder, { recursive: true }),
  };
}

function newContext(): Project[] {
  return ['contract', 'domain', 'application', 'testing'].map((layer) => ({
    name: `${NEW_CONTEXT}-${layer}`,
    packageName: `@animal-store/${NEW_CONTEXT}-${layer}`,
    isPublished: false,
    root: `libs/${NEW_CONTEXT}/${layer}`,
    tags: [`layer:${layer}`, `scope:${NEW_CONTEXT}`],
    implicitDependencies: [],
    inputs: [],
    exports: {},
  }));
}

function graphOf(projects: readonly Project[]): object {
  const { dependencies, devDependencies } = JSON.parse(readText('package.json')) as Record<string, Record<string, string>>;
  const packages = Object.entries({ ...dependencies, ...devDependencies });
  return {
    nodes: Object.fromEntries(
      projects.map(({ name, packageName, root, tags, exports }) => [
        name,
        {
          name,
          type: 'lib',
          data: {
            root,
            tags,
            targets: {},
            // Gives every package an entry point, so that any import of it resolves and only the tags can forbid the import.
            metadata: packageName && {
              js: { packageName, packageExports: { '.': './src/index.ts', ...exports }, isInPackageManagerWorkspaces: true },
            },
          },
        },
      ]),
    ),
    externalNodes: Object.fromEntries(
      packages.map(([packageName, version]) => [
        `npm:${packageName}`,
        { type: 'npm', name: `npm:${packageName}`, data: { packageName, version } },
      ]),
    ),
    dependencies: Object.fromEntries(projects.map(({ name }) => [name, []])),
  };
}
