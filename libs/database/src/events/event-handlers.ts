import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventDefinition } from '@animal-store/kernel';
import type { DataSource, EntityManager } from 'typeorm';
import type { EventHandler, Reaction, Subscription } from '../persistence.js';

/** By prototype. Decorators of methods run before that of their class. */
const reactions = new WeakMap<object, readonly Reaction[]>();
const subscriptions = new WeakMap<EventHandler, Subscription>();
/** The manager of the event that is being handled. */
export const transactions = new AsyncLocalStorage<EntityManager>();

/** Lets a method of a class with `@EventSubscription` handle an event. */
export function OnEvent<Payload extends object>(event: EventDefinition<Payload>) {
  return <Method extends (payload: Payload) => Promise<unknown>>(
    prototype: object,
    name: string | symbol,
    _method: TypedPropertyDescriptor<Method>,
  ): void => {
    const handle: Reaction['handle'] = async (handler, payload) =>
      (Reflect.get(handler, name) as Method).call(handler, event.parse(payload));
    reactions.set(prototype, [...reactionsOf(prototype), { type: event.type, handle }]);
  };
}

const reactionsOf = (prototype: object | null): readonly Reaction[] =>
  prototype ? (reactions.get(prototype) ?? reactionsOf(Object.getPrototypeOf(prototype) as object | null)) : [];

/**
 * Declares a class that handles events. Events whose order matters, such as `placed` and `cancelled`, belong in the same one.
 * @param ignores events that the release before this one handled. The release after this one need not name them
 * @throws TypeError if the class handles no event, or one twice
 */
export function EventSubscription(name: string, { ignores = [] }: { readonly ignores?: readonly EventDefinition[] } = {}) {
  return (handler: EventHandler): void => {
    const ignored = ignores.map(({ type }) => ({ type, handle: () => Promise.resolve(), isIgnored: true }));
    const all = [...reactionsOf(handler.prototype as object), ...ignored];
    const types = new Set(all.map(({ type }) => type));
    if (types.size === 0 || types.size < all.length)
      throw new TypeError(`${handler.name} must have one method with @OnEvent for each event.`);
    subscriptions.set(handler, { name, handler, reactions: all });
  };
}

export const isEventHandler = (type: unknown): type is EventHandler => subscriptions.has(type as EventHandler);

/** @throws TypeError if the class has no `@EventSubscription` */
export function subscriptionOf(handler: EventHandler): Subscription {
  const subscription = subscriptions.get(handler);
  if (!subscription) throw new TypeError(`${handler.name} must have the decorator @EventSubscription.`);
  return subscription;
}

/** Returns the manager of the transaction in which an event is being handled, or else that of the DataSource. */
export function currentManager(dataSource: DataSource): EntityManager {
  const manager = transactions.getStore();
  return manager?.dataSource === dataSource ? manager : dataSource.manager;
}
