import { relative } from 'node:path';
import type { Coverage, FileCoverage } from './merge-coverage.ts';
import { table } from './summary.ts';

/** The rules of the business have no branch that no test takes. */
const COMPLETE = /^libs\/(?:kernel|[^/]+\/(?:domain|application))$/;
/** Of the whole, in percent. */
const LEAST = 90;

interface Counts {
  readonly covered: number;
  readonly all: number;
}

interface ProjectCoverage {
  readonly statements: Counts;
  readonly branches: Counts;
}

export interface CoverageReport {
  /** One row for each project, and the whole. */
  readonly lines: readonly string[];
  /** What is not enough. */
  readonly gaps: readonly string[];
}

export function reportCoverage(coverage: Coverage, root: string): CoverageReport {
  const files = Object.entries(coverage).map(([path, file]) => ({ path: relative(root, path), file }));
  const byProject = Map.groupBy(files, ({ path }) => path.slice(0, path.indexOf('/src/')));
  const rows = [...byProject]
    .map(([project, of]) => ({ project, of, ...sum(of) }))
    .sort((one, other) => one.project.localeCompare(other.project));
  const whole = sum(files);
  const incomplete = rows.filter(
    ({ project, statements, branches }) => COMPLETE.test(project) && !(isComplete(statements) && isComplete(branches)),
  );
  return {
    lines: table([
      ['project', 'statements', 'branches'],
      ...[...rows, { project: 'all', ...whole }].map(({ project, statements, branches }) => [
        project,
        percent(statements),
        percent(branches),
      ]),
    ]),
    gaps: [
      ...incomplete.flatMap(({ of }) => of.flatMap(({ path, file }) => missedLines(file).map((line) => `${path}:${line} is not reached`))),
      ...(['statements', 'branches'] as const)
        .filter((kind) => ratio(whole[kind]) < LEAST / 100)
        .map((kind) => `${percent(whole[kind])} of all ${kind} are fewer than ${LEAST} %`),
    ],
  };
}

function sum(files: readonly { readonly file: FileCoverage }[]): ProjectCoverage {
  const count = (hits: readonly number[]) => ({ covered: hits.filter((hit) => hit > 0).length, all: hits.length });
  return {
    statements: count(files.flatMap(({ file }) => Object.values(file.s))),
    branches: count(files.flatMap(({ file }) => Object.values(file.b).flat())),
  };
}

function missedLines({ s, b, statementMap, branchMap }: FileCoverage): number[] {
  const missed = [
    ...Object.entries(statementMap)
      .filter(([id]) => s[id] === 0)
      .map(([, { start }]) => start.line),
    ...Object.entries(branchMap)
      .filter(([id]) => b[id]?.includes(0))
      .map(([, { loc }]) => loc.start.line),
  ];
  return [...new Set(missed)].sort((one, other) => one - other);
}

const ratio = ({ covered, all }: Counts) => (all === 0 ? 1 : covered / all);
const isComplete = (counts: Counts) => counts.covered === counts.all;
const percent = (counts: Counts) => `${(Math.floor(ratio(counts) * 1000) / 10).toFixed(1)} %`;
