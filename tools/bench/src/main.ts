import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseInteger, parseNames } from './options.js';
import { Argument, Command } from 'commander';
import { compare, type CompareOptions, type Comparison } from './compare.js';
import { MANY_CONNECTIONS } from './goals.js';
import { writeComparison, writeScale } from './performance-page.js';
import { profile } from './profile.js';
import { type Report, reportComparison, reportScale } from './report.js';
import { measureScale, type ScaleOptions } from './scale.js';
import { TARGETS } from './targets.js';
import { type Workload, WORKLOADS } from './workloads.js';

const TARGET_NAMES = Object.keys(TARGETS);
/** Without the baseline, which is measured separately (README.md). V8 optimizes functions during the first 9 seconds of a load. */
const FULL = { targets: TARGET_NAMES.filter((name) => name !== 'baseline'), workloads: WORKLOADS, rounds: 5, seconds: 3, warmUpSeconds: 6 };
const QUICK = { ...FULL, targets: ['animal-store', 'go-pgx', 'fastify-pg', 'nest-constant'], rounds: 2, seconds: 1, warmUpSeconds: 1 };
const RESULTS = 'tools/bench/results';

interface OutputOptions {
  readonly out: string;
  readonly docs?: boolean;
}
type CompareArguments = Partial<CompareOptions> & { readonly quick?: boolean } & OutputOptions;

const cleanUp = new AsyncDisposableStack();
let ending: Promise<void> | undefined;
/** A terminal and npm both send a signal, and the second one must not end the clean-up. */
const end = () => (ending ??= cleanUp.disposeAsync());
process.on('SIGINT', () => void end().finally(() => process.exit(130)));
process.on('SIGTERM', () => void end().finally(() => process.exit(143)));
const report = (line: string) => console.log(`  ${line}`);

/** Adds the options that both comparisons have. */
function addOptions(command: Command, results: string): Command {
  return command
    .option('--seed <n>', 'seed of the requests and of the order of measurements', parseInteger(0, 999_999_999), 1)
    .option('--out <file>', 'file for the results', `${RESULTS}/${results}`)
    .option('--docs', 'also write the results to the documents, unless responses were wrong');
}

const program = addOptions(new Command('bench'), 'bench.json')
  .description('Compares the service with its peers on the same PostgreSQL and rows.')
  .enablePositionalOptions()
  .option('--quick', 'measure only the main targets, within two minutes')
  .option('--targets <names>', `comma-separated names from ${TARGET_NAMES.join(', ')}`, parseNames(TARGET_NAMES))
  .option('--workloads <names>', `comma-separated names from ${WORKLOADS.join(', ')}`, parseNames(WORKLOADS))
  .option('--rounds <n>', `number of measurements of each target (default: ${FULL.rounds})`, parseInteger(1, 100))
  .option('--seconds <n>', `seconds per measurement (default: ${FULL.seconds})`, parseInteger(1, 60))
  .action(async ({ quick, out, docs, ...given }: CompareArguments) => {
    const comparison = await compare({ seed: 1, ...(quick ? QUICK : FULL), ...given }, cleanUp, report);
    await writeJson(out, comparison);
    print(reportComparison(comparison));
    const isWrong = hasErrors(comparison);
    if (docs && !isWrong) await writeComparison(comparison);
    process.exitCode = isWrong ? 1 : 0;
  });

addOptions(program.command('scale'), 'scale.json')
  .description('Measures the service with 1,000 rows and more.')
  .option('--max-rows <n>', 'rows of the largest catalogue', parseInteger(10_000, 100_000_000), 10_000_000)
  .option('--rounds <n>', 'number of measurements of each catalogue', parseInteger(1, 100), 3)
  .option('--seconds <n>', 'seconds per measurement', parseInteger(1, 60), 2)
  .action(async ({ out, docs, ...options }: ScaleOptions & OutputOptions) => {
    const result = await measureScale(options, cleanUp, report);
    await writeJson(out, result);
    print(reportScale(result));
    const isWrong = hasErrors(result);
    if (docs && !isWrong) await writeScale(result);
    process.exitCode = isWrong ? 1 : 0;
  });

program
  .command('profile')
  .description('Writes a profile of the CPU time under a workload (node --cpu-prof).')
  .addArgument(new Argument('<workload>', 'workload to send').choices(WORKLOADS))
  .option('--seconds <n>', 'seconds to profile', parseInteger(1, 60), 5)
  .option('--connections <n>', 'number of connections', parseInteger(1, 1000), MANY_CONNECTIONS)
  .action(async (workload: Workload, { seconds, connections }: { seconds: number; connections: number }) => {
    const out = `${RESULTS}/${workload}.cpuprofile`;
    await profile({ workload, seconds, connections, out }, cleanUp, report);
    console.log(`\nThe profile is in ${out}. To open it, use the performance panel of Chrome's developer tools, or Visual Studio Code.`);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(Error.isError(error) ? error.message : error);
  process.exitCode = 1;
} finally {
  await end();
}

function print({ goals, results }: Report): void {
  console.log(`\n${[...results, '### Goals', ...goals].join('\n\n')}\n`);
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Returns whether a target returned wrong responses or none. Slow targets are not errors. */
function hasErrors({ scenarios }: Pick<Comparison, 'scenarios'>): boolean {
  return scenarios.some(
    ({ failures, rounds }) => Object.keys(failures).length > 0 || Object.values(rounds).some((of) => of.some(({ errors }) => errors > 0)),
  );
}
