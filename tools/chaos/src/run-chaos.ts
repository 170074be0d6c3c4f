import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, faults } from './faults.js';
import { Ledger, type Verdict } from './ledger.js';
import { flood } from './flood.js';
import { Load, Observations } from './load.js';
import { brokenByFault, brokenByOverload } from './promises.js';
import { Random } from './random.js';
import { Stage } from './stage.js';

export interface ChaosOptions {
  readonly seed: number;
  /** Number of times that all faults are injected. */
  readonly rounds: number;
  /** Duration of the longest outage. The others are proportionally shorter. */
  readonly outageMs: number;
  /** Number of clients that send requests all the time. */
  readonly clients: number;
  /** Maximum pause of a client between two requests. */
  readonly pauseMs: number;
  /** Whether broken promises of time fail the run. Not on a busy machine. */
  readonly isStrict: boolean;
  readonly report: (line: string) => void;
}

interface Phase {
  readonly name: string;
  readonly recoveryMs?: number;
  readonly seen: Observations;
}

export interface ChaosResult {
  readonly phases: readonly Phase[];
  readonly verdict: Verdict;
  readonly statuses: ReadonlyMap<number, number>;
  readonly problems: readonly string[];
}

const CALM_MS = 1_000;
const RECOVERY_PATIENCE_MS = 30_000;
const OVERLOAD = 5;

/** Injects one fault after the other under load, then compares what clients were told with what is stored. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const random = new Random(options.seed);
  const stage = await Stage.build();
  const ledger = new Ledger();
  const load = new Load(stage.balancer.url, stage.keys, ledger, random, options.pauseMs);
  const phases: Phase[] = [];
  try {
    load.start(options.clients);
    await sleep(CALM_MS);
    phases.push({ name: 'calm', seen: load.nextPhase() });
    for (let round = 0; round < options.rounds; round++) {
      for (const fault of random.shuffle(faults(options))) phases.push(await inflict(fault, stage, load, ledger, options));
    }
    phases.push(await overload(stage, load, ledger, options));
    await load.stop();
    for (const how of load.nextPhase().dropped) ledger.problem(`no answer until the end: ${how}`);
    return { phases, verdict: await ledger.compare(stage.postgres.url), statuses: ledger.statuses, problems: ledger.problems };
  } finally {
    await load.stop();
    await stage.tearDown();
  }
}

async function inflict(fault: Fault, stage: Stage, load: Load, ledger: Ledger, options: ChaosOptions): Promise<Phase> {
  options.report(fault.name);
  load.allowDrops(fault.mayDrop);
  await fault.run(stage);
  const recoveryMs = await Promise.race([load.recovery(), sleep(RECOVERY_PATIENCE_MS, undefined, { ref: false })]);
  const seen = load.nextPhase();
  load.allowDrops(false);
  const { isRunning } = stage.service;
  const problems = brokenByFault(fault, { recoveryMs, seen, isRunning }, options.isStrict);
  for (const problem of problems) ledger.problem(problem);
  if (problems.length > 0) for (const line of stage.complaints) options.report(line);
  return { name: fault.name, seen, ...(recoveryMs !== undefined && { recoveryMs }) };
}

/** Sends five times as many requests as the service can handle. */
async function overload(stage: Stage, load: Load, ledger: Ledger, { outageMs, isStrict, report }: ChaosOptions): Promise<Phase> {
  const name = `${OVERLOAD} times the load`;
  report(name);
  const { keys, service } = stage;
  const path = '/v1/pets?limit=20&status=available';
  const { capacity, offered, acceptedMs, answers, dropped } = await flood({
    url: service.url,
    keys,
    path,
    times: OVERLOAD,
    seconds: outageMs / 4_000,
  });
  report(`  ${Math.round(capacity)} requests a second are carried, ${Math.round(offered)} were sent`);
  const seen = load.nextPhase();
  const flooded = new Observations();
  flooded.acceptedMs.push(...acceptedMs);
  flooded.dropped.push(...dropped);
  for (const { status, text, count } of answers.values()) {
    ledger.answered('listPets', status, text, count);
    if (status === 503) flooded.shed += count;
  }
  for (const problem of brokenByOverload(name, flooded, seen, isStrict)) ledger.problem(problem);
  return { name, seen: flooded };
}
