import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { CleanUp } from './clean-up.js';
import { compare, type CompareOptions, TARGETS } from './compare.js';
import { integer, namesFrom } from './options.js';
import { scenarioTable, scenarioTitle, verdictTable } from './report/result-tables.js';
import { judge } from './verdicts.js';
import { WORKLOADS } from './workloads.js';

const FULL = { targets: TARGETS, workloads: WORKLOADS, rounds: 5, seconds: 3, warmUpSeconds: 2 };
const QUICK = {
  targets: ['animal-store', 'go-pgx', 'fastify-pg', 'nest-constant'],
  workloads: WORKLOADS,
  rounds: 2,
  seconds: 1,
  warmUpSeconds: 1,
};

type Given = Partial<CompareOptions> & { readonly quick?: boolean; readonly out: string };

const cleanUp = new CleanUp();
const report = (line: string) => console.log(`  ${line}`);

const program = new Command('bench').description('Measures the service beside its peers, on the same PostgreSQL and rows.');
program
  .option('--quick', 'the main targets within two minutes')
  .option('--targets <names>', `some of ${TARGETS.join(', ')}`, namesFrom(TARGETS))
  .option('--workloads <names>', `some of ${WORKLOADS.join(', ')}`, namesFrom(WORKLOADS))
  .option('--rounds <n>', `how often each target is measured (default: ${FULL.rounds})`, integer(1, 100))
  .option('--seconds <n>', `how long each time (default: ${FULL.seconds})`, integer(1, 60))
  .option('--seed <n>', 'repeats the requests and the order of an earlier run', integer(0, 999_999_999), 1)
  .option('--out <file>', 'where the figures go', 'tools/bench/results/latest.json')
  .action(async ({ quick, out, ...given }: Given) => {
    const comparison = await compare({ seed: 1, ...(quick ? QUICK : FULL), ...given }, cleanUp, report);
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, JSON.stringify(comparison, undefined, 2));
    for (const scenario of comparison.scenarios) console.log(`\n${scenarioTitle(scenario)}\n\n${scenarioTable(scenario)}`);
    console.log(`\n${verdictTable(judge(comparison.scenarios))}\n`);
    const erred = comparison.scenarios.some(
      ({ failures, rounds }) => Object.keys(failures).length > 0 || Object.values(rounds).some((of) => of.some(({ errors }) => errors > 0)),
    );
    process.exitCode = erred ? 1 : 0;
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await cleanUp.run();
}
