import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import type { FileChange } from '@nx/devkit';
import { check, resolveConfig } from 'prettier';
import ts from 'typescript';

const WORKSPACE = fileURLToPath(new URL('../../../../', import.meta.url));

export const contentOf = ({ content }: FileChange): string => content?.toString('utf8') ?? '';

export async function expectFormatted(files: readonly FileChange[]): Promise<void> {
  const formatted = files.filter(({ path }) => /\.(?:ts|json|md)$/.test(path));
  expect(formatted.length).toBeGreaterThan(1);
  for (const file of formatted) {
    const options = await resolveConfig(join(WORKSPACE, file.path));
    expect([file.path, await check(contentOf(file), { ...options, filepath: file.path })]).toEqual([file.path, true]);
  }
}

/** Compiles generated files of contexts, by their absolute paths, with the libraries of the workspace. Returns the errors. */
export function problemsIn(sources: ReadonlyMap<string, string>, ...contexts: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(WORKSPACE, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8')) as { config: object };
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, files: [] },
    ts.sys,
    WORKSPACE,
    // Without the condition, other libraries are compiled, which is faster.
    {
      noEmit: true,
      composite: false,
      rootDir: WORKSPACE,
      customConditions: [],
      paths: Object.fromEntries(contexts.map((context) => [`@animal-store/${context}-*`, [`./libs/${context}/*/src/index.ts`]])),
    },
  );
  const host = ts.createCompilerHost(options);
  const overlay: ts.CompilerHost = {
    ...host,
    readFile: (path) => sources.get(path) ?? host.readFile(path),
    fileExists: (path) => sources.has(path) || host.fileExists(path),
    directoryExists: (path) => contexts.some((context) => path.includes(`/libs/${context}`)) || host.directoryExists?.(path) === true,
    getSourceFile: (path, target) => ts.createSourceFile(path, sources.get(path) ?? host.readFile(path) ?? '', target, true),
  };
  const program = ts.createProgram([...sources.keys()], options, overlay);
  return [...sources.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
}
