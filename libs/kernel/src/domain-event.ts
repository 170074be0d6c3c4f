import { int64FromJsonNumber } from './value-rules.js';
import { JsonText } from './json-text.js';

/** Return undefined for values of another type. An int64 is a bigint. */
const PARSERS = {
  int64: (value: unknown) => (typeof value === 'bigint' ? value : undefined),
  integer: (value: unknown) => (typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : undefined),
  text: (value: unknown) => (typeof value === 'string' ? value : undefined),
  boolean: (value: unknown) => (typeof value === 'boolean' ? value : undefined),
  time: (value: unknown) => (typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? new Date(value) : undefined),
};

type TypeName = keyof typeof PARSERS;

/** The types of the members. With `?`, the member may be absent or null. */
type Members = Readonly<Record<string, TypeName | `${TypeName}?`>>;

type Value<Type> = Type extends `${infer Name}?`
  ? Value<Name>
  : Type extends TypeName
    ? NonNullable<ReturnType<(typeof PARSERS)[Type]>>
    : never;

type Payload<M extends Members> = {
  readonly [Name in keyof M as M[Name] extends TypeName ? Name : never]: Value<M[Name]>;
} & {
  readonly [Name in keyof M as M[Name] extends TypeName ? never : Name]?: Value<M[Name]> | undefined;
};

/** An event of an aggregate, ready to be stored. */
export interface DomainEvent {
  readonly definition: EventDefinition;
  readonly aggregateId: string;
  readonly payload: JsonText;
}

/** The payload that subscribers receive: `type OrderPlaced = EventPayload<typeof OrderPlaced>`. */
export type EventPayload<Definition> = Definition extends EventDefinition<infer P> ? P : never;

export class EventDefinition<P extends object = object> {
  /** The publishing context. Events with the same aggregate type and id are handled in order, also those of two resources with equal ids. */
  readonly aggregateType: string;

  constructor(
    /** `<context>.<what happened>`, such as `orders.order_placed`. */
    readonly type: string,
    /** The member with the identifier of the aggregate. */
    readonly aggregate: string,
    readonly members: Members,
  ) {
    this.aggregateType = type.slice(0, type.indexOf('.'));
  }

  of(payload: P): DomainEvent {
    const aggregateId = String((payload as Readonly<Record<string, unknown>>)[this.aggregate]);
    return { definition: this, aggregateId, payload: JsonText.of(payload) };
  }

  /**
   * Parses a stored payload. Ignores unknown members.
   * @throws Error that names the first invalid member
   */
  parse(text: string): P {
    // In ECMAScript 2026, the third argument has the source text of a number.
    const stored = JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? (int64FromJsonNumber(String(context?.source)) ?? value) : value,
    ) as Readonly<Record<string, unknown>>;
    const payload: Record<string, unknown> = {};
    for (const [name, type] of Object.entries(this.members)) {
      const value = stored[name] ?? undefined;
      if (type.endsWith('?') && value === undefined) continue;
      payload[name] = PARSERS[type.replace('?', '') as TypeName](value);
      if (payload[name] === undefined) throw new Error(`The member ${name} of an event ${this.type} must be of the type ${type}.`);
    }
    return payload as P;
  }
}

/**
 * Defines an event that other contexts may subscribe to. Members may be added, as optional ones (`text?`), because stored events lack them.
 * They never change and are never removed.
 * @param aggregate the member with the identifier of the aggregate
 */
export function defineEvent<const M extends Members>(
  type: `${string}.${string}`,
  aggregate: keyof M & { [Name in keyof M]: M[Name] extends TypeName ? Name : never }[keyof M] & string,
  members: M,
): EventDefinition<Payload<M>> {
  return new EventDefinition(type, aggregate, members);
}
