import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { CHART, WORKSPACE } from './files.js';

const HELM = process.env['HELM'] ?? 'helm';
const KUBERNETES = '1.34.0';

/** The packages with the models and schemas, by API group. */
const PACKAGES: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
  'postgresql.cnpg.io': '@kubernetes-models/cloudnative-pg/',
};

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly env?: readonly Variable[];
  readonly ports?: readonly { readonly name: string }[];
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly name: string }[];
}

export function requireHelm(): void {
  if (spawnSync(HELM, ['version']).status === 0) return;
  const hint = 'unpack https://get.helm.sh/helm-v3.10.1-linux-amd64.tar.gz and set HELM to the path of its program';
  throw new Error(`helm 3.10 or newer is missing. See https://helm.sh/docs/intro/install, or on Linux ${hint}.`);
}

/** Throws if the models of CloudNativePG are missing. `npm ci` does not install them, because they require Node.js 22. */
export function requireModels(): void {
  try {
    import.meta.resolve('@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1');
  } catch {
    throw new Error('The models of CloudNativePG are missing. Install them: npm install --no-save @kubernetes-models/cloudnative-pg@2.0.0');
  }
}

/** Runs helm on the chart. */
export function helm(command: string, ...args: readonly string[]): { status: number | null; output: string; stdout: string } {
  const { status, stdout, stderr } = spawnSync(HELM, [command, ...args], { cwd: CHART, encoding: 'utf8' });
  return { status, stdout, output: stdout + stderr };
}

/** Renders the chart as `helm install` does. */
export function render(...args: readonly string[]): readonly Manifest[] {
  const { status, stdout, output } = helm('template', 'animal-store', '.', '--kube-version', KUBERNETES, ...args);
  if (status !== 0) throw new Error(output);
  return parseAllDocuments(stdout).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(document.errors.join('\n'));
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });
}

/** Validates the manifest against the JSON schema of its kind, and returns the errors. */
export async function schemaErrors(manifest: Manifest): Promise<readonly string[]> {
  const module = (await import(moduleOf(manifest))) as Record<string, new (data: object) => { validate(): void }>;
  const Model = module[manifest.kind];
  if (!Model) return [`${moduleOf(manifest)} has no ${manifest.kind}`];
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * Type-checks the manifests and returns the errors. The JSON schemas allow unknown fields, which Kubernetes drops; an object literal with an
 * unknown field does not compile.
 */
export function typeErrors(manifests: readonly Manifest[]): readonly string[] {
  // Within the workspace, so that its packages are found.
  const cache = join(WORKSPACE, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'manifests-'));
  try {
    const files = manifests.map((manifest, index) => {
      const file = join(folder, `${index}.ts`);
      const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
      writeFileSync(file, `export const manifest: ${type} = ${JSON.stringify(manifest, undefined, 2)};\n`);
      return file;
    });
    const program = ts.createProgram(files, {
      ...{ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024, moduleResolution: ts.ModuleResolutionKind.NodeNext },
      ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
    });
    return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
      const line = file ? file.text.slice(0, start).split('\n').length : 0;
      const text = file?.text.split('\n')[line - 1]?.trim() ?? '';
      return `${text}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the module with the models of the manifest's API version. */
function moduleOf({ apiVersion }: Manifest): string {
  const [group = ''] = apiVersion.split('/');
  return `${PACKAGES[group] ?? 'kubernetes-models/'}${apiVersion}`;
}
