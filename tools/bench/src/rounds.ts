import type { Random } from '@animal-store/faults/random';
import type { Measurement } from './measurement.js';
import type { Load, RunningTarget } from './running-target.js';
import type { Catalogue } from './database-server.js';
import { isWriting, type PetRequest, type Workload } from './workloads.js';

export interface Scenario {
  readonly workload: Workload;
  readonly connections: number;
  readonly requests: readonly PetRequest[];
  readonly targets: readonly string[];
  /** False if the same targets were just measured with the same requests. */
  readonly warmUp: boolean;
}

export interface RoundsOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly random: Random;
  readonly catalogue: Catalogue;
  readonly report: (line: string) => void;
}

export interface ScenarioResult {
  readonly workload: Workload;
  readonly connections: number;
  /** Measurements of each target, one per round. */
  readonly rounds: Readonly<Record<string, readonly Measurement[]>>;
  /** Targets that returned wrong responses or none, with the error. */
  readonly failures: Readonly<Record<string, string>>;
}

/** Checks and warms up each target, then measures them in turn, in a different order each round. */
export async function runScenario(
  scenario: Scenario,
  running: ReadonlyMap<string, RunningTarget>,
  options: RoundsOptions,
): Promise<ScenarioResult> {
  const { workload, connections, requests } = scenario;
  const { catalogue, random, report } = options;
  const rounds: Record<string, Measurement[]> = {};
  const failures: Record<string, string> = {};
  const attempt = async (name: string, work: (target: RunningTarget) => Promise<void>) => {
    const target = running.get(name);
    if (!target || name in failures) return;
    await work(target).catch((error: unknown) => {
      failures[name] = Error.isError(error) ? error.message : String(error);
      report(`${name}: ${failures[name]}`);
    });
  };
  const load = (round: number, seconds: number): Load => ({ workload, requests, connections, seconds, round });

  for (const name of scenario.targets) {
    await attempt(name, async (target) => {
      await target.check(load(0, 0));
      if (scenario.warmUp) await target.measure(load(0, options.warmUpSeconds));
    });
  }
  for (let round = 1; round <= options.rounds; round++) {
    for (const name of random.shuffle(scenario.targets)) {
      if (isWriting(workload)) await catalogue.checkpoint();
      await attempt(name, async (target) => {
        const measured = await target.measure(load(round, options.seconds));
        (rounds[name] ??= []).push(measured);
        report(`${workload} at ${connections}, round ${round} of ${options.rounds}: ${name} ${Math.round(measured.perSecond)}/s`);
      });
    }
  }
  if (isWriting(workload)) await catalogue.restore();
  return { workload, connections, rounds, failures };
}
