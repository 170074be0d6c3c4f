import type { EventDefinition } from '@animal-store/kernel';
import type { EntityManager } from 'typeorm';
import type { Reaction, Subscription } from '../persistence.js';

/**
 * Reacts to an event. `create` returns the use case with adapters on `manager`, so that its writes commit together with the end of
 * the delivery.
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
