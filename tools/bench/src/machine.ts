import { cpus } from 'node:os';

/** The machine that figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
}

export function describeMachine(): Machine {
  const [first] = cpus();
  return { cpu: first?.model ?? 'unknown', cores: cpus().length, node: process.version };
}
