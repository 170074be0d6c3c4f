import type { EventDefinition } from '@animal-store/kernel';
import type { EntityManager } from 'typeorm';

export interface Reaction {
  readonly type: string;
  readonly handle: (manager: EntityManager, payload: string) => Promise<unknown>;
  readonly isIgnored?: boolean;
}

/** Handles the events of its types, in order per aggregate, and each exactly once in effect. */
export interface Subscription {
  /** Unique in the deployment. It identifies the position in the log, so it never changes. */
  readonly name: string;
  readonly reactions: readonly Reaction[];
}

/**
 * Reacts to an event. `create` returns the use case with adapters on `manager`, so that its writes commit together with the position of
 * the subscription.
 */
export function on<Payload extends object>(
  event: EventDefinition<Payload>,
  create: (manager: EntityManager) => { execute(event: Payload): Promise<unknown> },
): Reaction {
  return { type: event.type, handle: async (manager, payload) => create(manager).execute(event.parse(payload)) };
}

/** Replaces a reaction in the release that removes it. The release after that one no longer needs it. */
export function ignore({ type }: EventDefinition): Reaction {
  return { type, handle: () => Promise.resolve(), isIgnored: true };
}

/** Declares a subscription. Events whose order matters, such as `placed` and `cancelled`, belong in the same one. */
export function subscribe(name: string, ...reactions: Reaction[]): Subscription {
  return { name, reactions };
}
