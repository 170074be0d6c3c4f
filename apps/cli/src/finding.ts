import { reasonOf } from './failure.js';

/** Result of a check: a warning does not stop the service, an error does, or violates what it promises. */
export interface Outcome {
  readonly status: 'ok' | 'warning' | 'error';
  readonly found: string;
  /** What to do; undefined if nothing is wrong. */
  readonly action?: string;
}

export interface Finding extends Outcome {
  readonly check: string;
}

export function ok(found: string): Outcome {
  return { status: 'ok', found };
}

export function warning(found: string, action: string): Outcome {
  return { status: 'warning', found, action };
}

export function failure(found: string, action: string): Outcome {
  return { status: 'error', found, action };
}

/** Runs a check. An error that the check does not expect becomes its finding, with the given action. */
export async function examine(check: string, action: string, work: () => Promise<Outcome>): Promise<Finding> {
  const outcome = await work().catch((error: unknown) => failure(reasonOf(error).replace(/\.+$/, ''), action));
  return { check, ...outcome };
}
