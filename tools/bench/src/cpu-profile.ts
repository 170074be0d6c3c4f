/** The parts of a `node --cpu-prof` file that are read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface SelfTime {
  readonly name: string;
  readonly ms: number;
  /** `ms` as a fraction of the total time without idle time. */
  readonly share: number;
}

const IDLE = '(idle)';

/** Returns the self time of each function in the last `lastMs` of the profile, in descending order. */
export function selfTimes({ nodes, samples, timeDeltas }: CpuProfile, lastMs: number): SelfTime[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const microseconds = new Map<string, number>();
  let ago = 0;
  for (let index = samples.length - 1; index >= 0 && ago <= lastMs * 1000; index--) {
    ago += timeDeltas[index] ?? 0;
    const name = names.get(samples[index] ?? 0) ?? '(unknown)';
    if (name !== IDLE) microseconds.set(name, (microseconds.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const total = [...microseconds.values()].reduce((sum, time) => sum + time, 0);
  return [...microseconds].map(([name, time]) => ({ name, ms: time / 1000, share: time / total })).sort((a, b) => b.ms - a.ms);
}

function nameOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  return url === '' ? name : `${name} ${shorten(url)}:${lineNumber + 1}`;
}

/** Shortens a path so that it begins with the package or the project of the workspace. */
function shorten(url: string): string {
  return /(?:.*\/node_modules\/|.*\/(?=(?:apps|libs|tools)\/))?(.*)/.exec(url)?.[1] ?? url;
}
