import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { compiledFile, isSource, SOURCE_FOLDERS, WORKSPACE } from './dev-paths.js';

const formatHost: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => WORKSPACE,
  getNewLine: () => '\n',
};

/** Compiles file by file, which takes milliseconds: types are not checked here. */
export class SourceCompiler {
  private readonly options: ts.CompilerOptions;
  /** The text of each source as it was compiled. */
  private readonly compiled = new Map<string, string>();

  constructor() {
    const file = join(WORKSPACE, 'tsconfig.base.json');
    const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as { config: object };
    const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, WORKSPACE);
    this.options = {
      ...options,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      composite: false,
      declaration: false,
      sourceMap: false,
      inlineSourceMap: true,
    };
  }

  /** Compiles what has changed since the last time, and returns the text of the errors. */
  compileAll(): string[] {
    return SOURCE_FOLDERS.flatMap((folder) => ts.sys.readDirectory(join(WORKSPACE, folder), ['.ts'], ['**/node_modules', '**/dist']))
      .filter(isSource)
      .flatMap((source) => {
        const text = readFileSync(source, 'utf8');
        if (this.compiled.get(source) === text) return [];
        const errors = this.compile(source, text);
        if (errors.length === 0) this.compiled.set(source, text);
        return errors;
      });
  }

  private compile(source: string, text: string): string[] {
    const { outputText, diagnostics = [] } = ts.transpileModule(text, {
      compilerOptions: this.options,
      fileName: source,
      reportDiagnostics: true,
    });
    if (diagnostics.length > 0) return [ts.formatDiagnosticsWithColorAndContext(diagnostics, formatHost)];
    const target = compiledFile(source);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
    return [];
  }
}
