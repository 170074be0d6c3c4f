import { cpus } from 'node:os';

/** Where figures come from. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
}

export function thisMachine(): Machine {
  const [first] = cpus();
  return { cpu: first?.model ?? 'unknown', cores: cpus().length, node: process.version };
}
