import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { format } from 'oxfmt';
import { Bench, type BenchResult } from './bench.js';
import { replaceTable, resultTable, summaryTable } from './report.js';
import { targetsOf } from './targets.js';
import { WORKLOADS } from './workloads.js';

const README = 'README.md';
const USAGE = `npm run bench -- [options]: measures the service and its peers in turn, on the same PostgreSQL and rows.

  --targets <names>     separated by commas (default: ${Object.keys(targetsOf()).join(',')})
  --workloads <names>   separated by commas (default: ${WORKLOADS.join(',')})
  --rounds <n>          measurements of each target (default: 5)
  --seconds <n>         seconds of a measurement (default: 3)
  --warm-up <n>         seconds before the first measurement (default: 6)
  --baseline <folder>   also measure the service of another checkout, in which \`npx nx run-many -t bundle\` was run
  --out <file>          JSON with all results (default: tools/bench/results/bench.json)
  --readme              also write the table of README.md`;

const cleanUp = new AsyncDisposableStack();
let ending: Promise<void> | undefined;
/** A terminal and npm both send a signal, and the second one must not end the clean-up. */
const end = () => (ending ??= cleanUp.disposeAsync());
process.on('SIGINT', () => void end().finally(() => process.exit(130)));
process.on('SIGTERM', () => void end().finally(() => process.exit(143)));

try {
  const option = <T extends string>(value: T) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    options: {
      targets: { type: 'string' },
      workloads: option(WORKLOADS.join()),
      rounds: option('5'),
      seconds: option('3'),
      'warm-up': option('6'),
      baseline: { type: 'string' },
      out: option('tools/bench/results/bench.json'),
      readme: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) console.log(USAGE);
  else {
    const targets = targetsOf(values.baseline);
    const bench = await Bench.start(
      {
        targets: choose(Object.keys(targets), values.targets ?? Object.keys(targets).join()).map((name) => [name, targets[name]] as const),
        workloads: choose(WORKLOADS, values.workloads),
        rounds: positive(values.rounds),
        seconds: positive(values.seconds),
        warmUpSeconds: positive(values['warm-up']),
      },
      cleanUp,
    );
    await write(await bench.run(), values.out, values.readme);
  }
} catch (error) {
  console.error(Error.isError(error) ? error.message : error);
  process.exitCode = 1;
} finally {
  await end();
}

async function write(result: BenchResult, file: string, isForReadme: boolean): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`);
  console.log(`\n${resultTable(result)}\n`);
  if (result.failures.length > 0) throw new Error(result.failures.join('\n'));
  if (!isForReadme) return;
  const page = replaceTable(await readFile(README, 'utf8'), summaryTable(result));
  await writeFile(README, (await format(README, page, { embeddedLanguageFormatting: 'off' })).code);
}

function choose<T extends string>(known: readonly T[], text: string): T[] {
  return text.split(',').map((name) => {
    const found = known.find((candidate) => candidate === name.trim());
    if (found === undefined) throw new Error(`"${name}" must be one of ${known.join(', ')}.\n\n${USAGE}`);
    return found;
  });
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new Error(`"${text}" must be a positive integer.\n\n${USAGE}`);
  return Number(text);
}
