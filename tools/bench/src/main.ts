import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Argument, Command } from 'commander';
import { CleanUp } from './clean-up.js';
import { compare, type CompareOptions, type Comparison, TARGETS } from './compare.js';
import { integer, namesFrom } from './options.js';
import { profile } from './profile.js';
import { writeComparison, writeScale } from './report/performance-page.js';
import { leftOut, scenarioTable, scenarioTitle, verdictTable } from './report/result-tables.js';
import { scaleTable } from './report/scale-table.js';
import { number, table } from './report/table.js';
import { measureScale, type ScaleOptions } from './scale.js';
import { judgeScale } from './scale-verdicts.js';
import { median } from './statistics.js';
import { judge } from './verdicts.js';
import { type Workload, WORKLOADS } from './workloads.js';

/** Without the baseline, which is measured separately (README.md). */
const FULL = { targets: TARGETS.filter((name) => name !== 'baseline'), workloads: WORKLOADS, rounds: 5, seconds: 3, warmUpSeconds: 2 };
const QUICK = {
  targets: ['animal-store', 'go-pgx', 'fastify-pg', 'nest-constant'],
  workloads: WORKLOADS,
  rounds: 2,
  seconds: 1,
  warmUpSeconds: 1,
};
const RESULTS = 'tools/bench/results';
const SHOWN_FUNCTIONS = 30;

interface Output {
  readonly out: string;
  readonly docs?: boolean;
}
type CompareGiven = Partial<CompareOptions> & { readonly quick?: boolean } & Output;

const cleanUp = new CleanUp();
const report = (line: string) => console.log(`  ${line}`);

const program = new Command('bench')
  .description('Measures the service beside its peers, on the same PostgreSQL and rows.')
  .enablePositionalOptions()
  .option('--quick', 'the main targets within two minutes')
  .option('--targets <names>', `some of ${TARGETS.join(', ')}`, namesFrom(TARGETS))
  .option('--workloads <names>', `some of ${WORKLOADS.join(', ')}`, namesFrom(WORKLOADS))
  .option('--rounds <n>', `how often each target is measured (default: ${FULL.rounds})`, integer(1, 100))
  .option('--seconds <n>', `how long each time (default: ${FULL.seconds})`, integer(1, 60))
  .option('--seed <n>', 'repeats the requests and the order of an earlier run', integer(0, 999_999_999), 1)
  .option('--out <file>', 'where the figures go', `${RESULTS}/bench.json`)
  .option('--docs', 'write them into docs/performance.md, too')
  .action(async ({ quick, out, docs, ...given }: CompareGiven) => {
    const comparison = await compare({ seed: 1, ...(quick ? QUICK : FULL), ...given }, cleanUp, report);
    await writeJson(out, comparison);
    const { scenarios, startsMs } = comparison;
    for (const scenario of scenarios) console.log(`\n${scenarioTitle(scenario)}\n\n${scenarioTable(scenario)}`);
    console.log(`\n${verdictTable(judge(scenarios, median(startsMs)))}\n`);
    for (const line of leftOut(comparison)) console.error(line);
    if (docs) await writeComparison(comparison);
    process.exitCode = hasErrors(comparison) ? 1 : 0;
  });

program
  .command('scale')
  .description('Measures the service on catalogues of a thousand rows and more.')
  .option('--max-rows <n>', 'the largest catalogue', integer(10_000, 100_000_000), 10_000_000)
  .option('--rounds <n>', 'how often each is measured', integer(1, 100), 3)
  .option('--seconds <n>', 'how long each time', integer(1, 60), 2)
  .option('--seed <n>', 'repeats the requests and the order of an earlier run', integer(0, 999_999_999), 1)
  .option('--out <file>', 'where the figures go', `${RESULTS}/scale.json`)
  .option('--docs', 'write them into docs/performance.md, too')
  .action(async ({ out, docs, ...options }: ScaleOptions & Output) => {
    const result = await measureScale(options, cleanUp, report);
    await writeJson(out, result);
    console.log(`\n${scaleTable(result)}\n\n${verdictTable(judgeScale(result))}\n`);
    if (docs) await writeScale(result);
  });

program
  .command('profile')
  .description('Shows where the service spends its CPU under a load.')
  .addArgument(new Argument('<workload>', 'which load').choices(WORKLOADS))
  .option('--seconds <n>', 'how long', integer(1, 60), 5)
  .action(async (workload: Workload, { seconds }: { seconds: number }) => {
    const out = `${RESULTS}/${workload}.cpuprofile`;
    const functions = await profile({ workload, seconds, out }, cleanUp);
    const rows = functions.slice(0, SHOWN_FUNCTIONS).map(({ name, ms, share }) => [name, number(ms), `${(share * 100).toFixed(1)} %`]);
    console.log(`${table(['function', 'self ms', 'share'], rows)}\n\n${out} holds it all, for the tools of a browser.`);
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

/** Returns whether a target gave wrong responses or none. Slow targets are no errors. */
function hasErrors({ scenarios }: Comparison): boolean {
  return scenarios.some(
    ({ failures, rounds }) => Object.keys(failures).length > 0 || Object.values(rounds).some((of) => of.some(({ errors }) => errors > 0)),
  );
}
