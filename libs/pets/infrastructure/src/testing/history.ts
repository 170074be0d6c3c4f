/** An operation on a catalogue without deletions, with the logical times of its call and its return. */
export interface Operation {
  readonly calledAt: number;
  readonly returnedAt: number;
  /** The pet that was created; undefined for a read. */
  readonly created?: bigint;
  /** The pet that `find` requested; undefined for a list of all pets. */
  readonly requested?: bigint;
  readonly seen?: ReadonlySet<bigint>;
}

/** Records the operations of concurrent callers and their results. */
export class History {
  readonly operations: Operation[] = [];
  private time = 0;

  async record<T>(work: () => Promise<T>, describe: (result: T) => Pick<Operation, 'created' | 'requested' | 'seen'>): Promise<T> {
    const calledAt = ++this.time;
    const result = await work();
    this.operations.push({ calledAt, returnedAt: ++this.time, ...describe(result) });
    return result;
  }
}

/**
 * Returns why the history is not linearizable (Herlihy and Wing, 1990), or undefined if it is. A set that only grows is linearizable if
 * each read is up to date and sees everything that was seen before its call, and of any two lists one contains the other.
 */
export function findViolation(operations: readonly Operation[]): string | undefined {
  return findOutdatedRead(operations) ?? findLostPet(operations) ?? findLongFork(operations);
}

/**
 * Returns which read does not see everything that was created before its call, or sees a pet before the call of its creation.
 * Undefined if there is none.
 */
function findOutdatedRead(operations: readonly Operation[]): string | undefined {
  for (const read of operations) {
    for (const { created: pet, calledAt, returnedAt } of operations) {
      if (pet === undefined || !isRead(read, pet)) continue;
      const isSeen = read.seen.has(pet);
      if (isSeen && calledAt > read.returnedAt) return `${String(pet)} was seen before it was created`;
      if (!isSeen && returnedAt < read.calledAt) return `${String(pet)} was created, and not seen afterwards`;
    }
  }
  return undefined;
}

function findLostPet(operations: readonly Operation[]): string | undefined {
  for (const { returnedAt, seen = [] } of operations) {
    for (const pet of seen) {
      const isLost = operations.some((later) => returnedAt < later.calledAt && isRead(later, pet) && !later.seen.has(pet));
      if (isLost) return `${String(pet)} was seen, and not seen afterwards`;
    }
  }
  return undefined;
}

function findLongFork(operations: readonly Operation[]): string | undefined {
  const lists = operations.flatMap(({ seen, requested }) => (seen && requested === undefined ? [seen] : []));
  lists.sort((one, other) => one.size - other.size);
  for (const [index, smaller] of lists.entries()) {
    const larger = lists[index + 1];
    if (larger && !smaller.isSubsetOf(larger)) return 'two lists see different creations first';
  }
  return undefined;
}

/** Whether the operation is a read that would see the pet. */
function isRead(operation: Operation, pet: bigint): operation is Operation & { readonly seen: ReadonlySet<bigint> } {
  return operation.seen !== undefined && (operation.requested === undefined || operation.requested === pet);
}
