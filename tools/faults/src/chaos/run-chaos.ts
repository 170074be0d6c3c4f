import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, faults } from './faults.js';
import { Ledger, type Verdict } from '../ledger.js';
import { flood } from './flood.js';
import { Load, Observations } from './load.js';
import { promisesBrokenByFault, promisesBrokenByOverload } from './chaos-report.js';
import { Random } from '../random.js';
import { Deployment } from './deployment.js';

export interface ChaosOptions {
  readonly seed: number;
  /** Number of times that all faults are injected. */
  readonly rounds: number;
  /** Duration of the fault `database stopped`. The durations of most other faults are fractions of it. */
  readonly outageMs: number;
  /** Number of clients that send requests all the time. */
  readonly clients: number;
  /** Maximum pause of a client between two requests. */
  readonly pauseMs: number;
  /** Whether late responses and slow recovery fail the run. False on a busy machine. */
  readonly isStrict: boolean;
  readonly report: (line: string) => void;
}

export interface Phase {
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
const RECOVERY_TIMEOUT_MS = 30_000;

/** Injects one fault after the other under load, then compares acknowledged creations with the stored rows. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const random = new Random(options.seed);
  const deployment = await Deployment.build();
  const ledger = new Ledger();
  const load = new Load(deployment.balancer.url, deployment.keys, ledger, random, options.pauseMs);
  const phases: Phase[] = [];
  try {
    load.start(options.clients);
    await sleep(CALM_MS);
    phases.push({ name: 'calm', seen: load.nextPhase() });
    for (let round = 0; round < options.rounds; round++) {
      for (const fault of random.shuffle(faults(options))) phases.push(await injectFault(fault, deployment, load, ledger, options));
    }
    phases.push(await overload(deployment, load, ledger, options));
    await load.stop();
    for (const reason of load.nextPhase().dropped) ledger.addProblem(`no response until the end: ${reason}`);
    return { phases, verdict: await ledger.compare(deployment.postgres.url), statuses: ledger.statuses, problems: ledger.problems };
  } finally {
    await load.stop();
    await deployment.tearDown();
  }
}

async function injectFault(fault: Fault, deployment: Deployment, load: Load, ledger: Ledger, options: ChaosOptions): Promise<Phase> {
  options.report(fault.name);
  load.allowDrops(fault.mayDrop);
  await fault.run(deployment).catch((error: unknown) => ledger.addProblem(`${fault.name}: ${String(error)}`));
  const recoveryMs = await Promise.race([load.recovery(), sleep(RECOVERY_TIMEOUT_MS, undefined, { ref: false })]);
  const seen = load.nextPhase();
  load.allowDrops(false);
  const { isRunning } = deployment.service;
  const problems = promisesBrokenByFault(fault, { recoveryMs, seen, isRunning }, options.isStrict);
  for (const problem of problems) ledger.addProblem(problem);
  if (problems.length > 0) for (const line of deployment.recentLogLines) options.report(line);
  await fault.cleanUp?.(deployment);
  return { name: fault.name, seen, ...(recoveryMs !== undefined && { recoveryMs }) };
}

/** Sends up to five times as many requests as the service can handle. */
async function overload(deployment: Deployment, load: Load, ledger: Ledger, { outageMs, isStrict, report }: ChaosOptions): Promise<Phase> {
  const name = 'overload';
  report(name);
  const { keys, service } = deployment;
  const { capacity, offered, acceptedMs, responses, dropped } = await flood({ url: service.url, keys, seconds: outageMs / 4_000 });
  report(`  capacity: ${Math.round(capacity)} requests per second; sent: ${Math.round(offered)} per second`);
  const seen = load.nextPhase();
  const flooded = new Observations();
  flooded.acceptedMs.push(...acceptedMs);
  flooded.dropped.push(...dropped);
  for (const { status, text, count } of responses.values()) {
    ledger.recordResponse('listPets', status, text, count);
    if (status === 503) flooded.shed += count;
  }
  for (const problem of promisesBrokenByOverload(name, flooded, seen, isStrict)) ledger.addProblem(problem);
  return { name, seen: flooded };
}
