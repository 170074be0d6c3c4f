import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Argument, Command } from 'commander';
import { CleanUp } from './clean-up.js';
import { compare, type CompareOptions, type Comparison, TARGETS } from './compare.js';
import { profile } from './profile.js';
import { writeComparison, writeScale } from './report/performance-page.js';
import { scenarioTable, scenarioTitle, skippedTargets, verdictTable } from './report/result-tables.js';
import { scaleTable } from './report/scale-table.js';
import { parseInteger, parseNames } from '@animal-store/faults/options';
import { table } from '@animal-store/faults/table';
import { number } from './report/number.js';
import { measureScale, type ScaleOptions } from './scale.js';
import { judgeScale } from './scale-verdicts.js';
import { median } from './statistics.js';
import { judge, MANY_CONNECTIONS } from './verdicts.js';
import { type Workload, WORKLOADS } from './workloads.js';

/** Without the baseline, which is measured separately (README.md). V8 optimizes functions during the first 9 seconds of a load. */
const FULL = { targets: TARGETS.filter((name) => name !== 'baseline'), workloads: WORKLOADS, rounds: 5, seconds: 3, warmUpSeconds: 6 };
const QUICK = {
  targets: ['animal-store', 'go-pgx', 'fastify-pg', 'nest-constant'],
  workloads: WORKLOADS,
  rounds: 2,
  seconds: 1,
  warmUpSeconds: 1,
};
const RESULTS = 'tools/bench/results';
const SHOWN_FUNCTIONS = 30;

interface OutputOptions {
  readonly out: string;
  readonly docs?: boolean;
}
type CompareArguments = Partial<CompareOptions> & { readonly quick?: boolean } & OutputOptions;

const cleanUp = new CleanUp();
const report = (line: string) => console.log(`  ${line}`);

const program = new Command('bench')
  .description('Compares the service with its peers on the same PostgreSQL and rows.')
  .enablePositionalOptions()
  .option('--quick', 'measure only the main targets, within two minutes')
  .option('--targets <names>', `comma-separated names from ${TARGETS.join(', ')}`, parseNames(TARGETS))
  .option('--workloads <names>', `comma-separated names from ${WORKLOADS.join(', ')}`, parseNames(WORKLOADS))
  .option('--rounds <n>', `number of measurements of each target (default: ${FULL.rounds})`, parseInteger(1, 100))
  .option('--seconds <n>', `seconds per measurement (default: ${FULL.seconds})`, parseInteger(1, 60))
  .option('--seed <n>', 'seed of the requests and of the order of measurements', parseInteger(0, 999_999_999), 1)
  .option('--out <file>', 'file for the results', `${RESULTS}/bench.json`)
  .option('--docs', 'also write the results to docs/performance.md')
  .action(async ({ quick, out, docs, ...given }: CompareArguments) => {
    const comparison = await compare({ seed: 1, ...(quick ? QUICK : FULL), ...given }, cleanUp, report);
    await writeJson(out, comparison);
    const { scenarios, startTimesMs } = comparison;
    for (const scenario of scenarios) console.log(`\n${scenarioTitle(scenario)}\n\n${scenarioTable(scenario)}`);
    console.log(`\n${verdictTable(judge(scenarios, median(startTimesMs)))}\n`);
    for (const line of skippedTargets(comparison)) console.error(line);
    if (docs) await writeComparison(comparison);
    process.exitCode = hasErrors(comparison) ? 1 : 0;
  });

program
  .command('scale')
  .description('Measures the service with 1,000 rows and more.')
  .option('--max-rows <n>', 'rows of the largest catalogue', parseInteger(10_000, 100_000_000), 10_000_000)
  .option('--rounds <n>', 'number of measurements of each catalogue', parseInteger(1, 100), 3)
  .option('--seconds <n>', 'seconds per measurement', parseInteger(1, 60), 2)
  .option('--seed <n>', 'seed of the requests and of the order of measurements', parseInteger(0, 999_999_999), 1)
  .option('--out <file>', 'file for the results', `${RESULTS}/scale.json`)
  .option('--docs', 'also write the results to docs/performance.md')
  .action(async ({ out, docs, ...options }: ScaleOptions & OutputOptions) => {
    const result = await measureScale(options, cleanUp, report);
    await writeJson(out, result);
    console.log(`\n${scaleTable(result)}\n\n${verdictTable(judgeScale(result))}\n`);
    if (docs) await writeScale(result);
  });

program
  .command('profile')
  .description('Shows the functions with the most CPU time under a workload.')
  .addArgument(new Argument('<workload>', 'workload to send').choices(WORKLOADS))
  .option('--seconds <n>', 'seconds to profile', parseInteger(1, 60), 5)
  .option('--connections <n>', 'number of connections', parseInteger(1, 1000), MANY_CONNECTIONS)
  .action(async (workload: Workload, { seconds, connections }: { seconds: number; connections: number }) => {
    const out = `${RESULTS}/${workload}.cpuprofile`;
    const functions = await profile({ workload, seconds, connections, out }, cleanUp);
    const rows = functions.slice(0, SHOWN_FUNCTIONS).map(({ name, ms, share }) => [name, number(ms), `${(share * 100).toFixed(1)} %`]);
    console.log(`${table(['function', 'self ms', 'share'], rows)}\n\nThe full profile is in ${out}. Browser developer tools can open it.`);
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(Error.isError(error) ? error.message : error);
  process.exitCode = 1;
} finally {
  await cleanUp.run();
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Returns whether a target returned wrong responses or none. Slow targets are not errors. */
function hasErrors({ scenarios }: Comparison): boolean {
  return scenarios.some(
    ({ failures, rounds }) => Object.keys(failures).length > 0 || Object.values(rounds).some((of) => of.some(({ errors }) => errors > 0)),
  );
}
