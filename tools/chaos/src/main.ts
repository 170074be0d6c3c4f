import { Command, InvalidArgumentError } from 'commander';
import { type ChaosResult, runChaos } from './run-chaos.js';

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

const LONG = { clients: 12, pauseMs: 5, judgesTimes: true };
/** Leaves the machine to others. */
const SHORT = { rounds: 1, outageMs: 1_000, clients: 4, pauseMs: 60, judgesTimes: false };

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
console.log(table(result));
process.exitCode = result.problems.length === 0 ? 0 : 1;

function table({ phases, verdict, statuses, problems }: ChaosResult): string {
  const rows = [
    ['phase', 'accepted', 'p50 ms', 'p99 ms', 'shed', 'no answer', 'recovery ms'],
    ...phases.map(({ name, seen, recoveryMs }) => [
      name,
      `${seen.acceptedMs.length}`,
      seen.quantile(0.5).toFixed(1),
      seen.quantile(0.99).toFixed(1),
      `${seen.shed}`,
      `${seen.dropped}`,
      recoveryMs === undefined ? '' : recoveryMs.toFixed(0),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '));
  const answers = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  return [
    '',
    ...lines,
    '',
    `answers       ${answers.join(', ')}`,
    `acknowledged  ${verdict.acknowledged}`,
    `stored        ${verdict.stored}`,
    `lost          ${verdict.lost}`,
    `duplicates    ${verdict.duplicates}`,
    '',
    ...(problems.length === 0 ? ['every promise held'] : ['broken promises:', ...problems.map((problem) => `- ${problem}`)]),
  ].join('\n');
}
