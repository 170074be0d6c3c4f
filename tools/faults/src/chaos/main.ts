import { Command } from 'commander';
import { reportChaos, runOf } from './chaos-report.js';
import { recordFaults } from '../fault-record.js';
import { parseInteger } from '../options.js';
import { runChaos } from './run-chaos.js';

interface Options {
  readonly seed: number;
  readonly rounds: number;
  readonly outage: number;
  readonly short: boolean;
  readonly docs: boolean;
}

const LONG = { clients: 12, pauseMs: 5, isStrict: true };
/** A short run with little load, for a busy machine. */
const SHORT = { rounds: 1, outageMs: 1_000, clients: 4, pauseMs: 60, isStrict: false };

const { seed, rounds, outage, short, docs } = new Command('chaos')
  .description(
    'Injects faults into a running service, and checks that no acknowledged creation is lost or duplicated. Needs an otherwise idle machine.',
  )
  .option('--seed <number>', 'seed of the schedule; the same seed repeats a run', parseInteger(0, 999_999_999), Date.now() % 1_000_000_000)
  .option('--rounds <number>', 'number of times that each fault is injected', parseInteger(1, 999_999_999), 2)
  .option('--outage <seconds>', 'seconds of a database outage', parseInteger(1, 999_999_999), 10)
  .option('--short', 'inject each fault once and briefly under light load, and do not check times (used by npm run verify -- chaos)', false)
  .option('--docs', 'record the results in docs/how-we-know.json if all promises are kept', false)
  .parse()
  .opts<Options>();

const schedule = `--seed ${seed} ${short ? '--short' : `--rounds ${rounds} --outage ${outage}`}`;
console.log(`chaos ${schedule}${short ? '' : ': checks times, so it needs an otherwise idle machine'}`);
const result = await runChaos({
  ...(short ? SHORT : { ...LONG, rounds, outageMs: outage * 1000 }),
  seed,
  report: (line) => console.log(`  ${line}`),
});
console.log(reportChaos(result));
if (docs && result.problems.length === 0) {
  // Without the calm before the first fault.
  const [, ...runs] = result.phases.map(runOf);
  const suite = 'tools/faults/src/chaos/testing/chaos.verify.ts';
  recordFaults({ command: `npm run chaos -- ${schedule}`, suite, verdict: result.verdict, runs });
}
process.exitCode = result.problems.length === 0 ? 0 : 1;
