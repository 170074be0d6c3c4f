import { Command, InvalidArgumentError } from 'commander';
import { reportChaos } from './chaos-report.js';
import { runChaos } from './run-chaos.js';

const integer = (text: string): number => {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('must be an integer.');
  return Number(text);
};

interface Options {
  readonly seed: number;
  readonly rounds: number;
  readonly outage: number;
  readonly short: boolean;
}

const LONG = { clients: 12, pauseMs: 5, isStrict: true };
/** A short run with little load, for a busy machine. */
const SHORT = { rounds: 1, outageMs: 1_000, clients: 4, pauseMs: 60, isStrict: false };

const { seed, rounds, outage, short } = new Command('chaos')
  .description('Breaks a running service in every way it promises to survive, and checks what clients were told.')
  .option('--seed <number>', 'repeats the schedule of an earlier run', integer, Date.now() % 1_000_000_000)
  .option('--rounds <number>', 'how often each fault happens', integer, 2)
  .option('--outage <seconds>', 'how long the database stays away', integer, 10)
  .option('--short', 'each fault once and briefly, under a light load and without judging times, as npm test does', false)
  .parse()
  .opts<Options>();

const schedule = short ? SHORT : { ...LONG, rounds, outageMs: outage * 1000 };
console.log(`chaos --seed ${seed}${short ? ' --short' : ` --rounds ${rounds} --outage ${outage}`}`);
const result = await runChaos({ ...schedule, seed, report: (line) => console.log(`  ${line}`) });
console.log(reportChaos(result));
process.exitCode = result.problems.length === 0 ? 0 : 1;
