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
 * each read sees everything that was created or seen before its call, no read sees a pet before the call of its creation, and of any two
 * lists one contains the other.
 */
export function findViolation(operations: readonly Operation[]): string | undefined {
  const reads = operations.filter(({ seen }) => seen !== undefined);
  const creations = operations.filter(({ created }) => created !== undefined);
  const isRelevant = (read: Operation, pet: bigint) => read.requested === undefined || read.requested === pet;

  for (const read of reads) {
    for (const { created, calledAt, returnedAt } of creations) {
      const pet = created as bigint;
      if (!isRelevant(read, pet)) continue;
      const isSeen = read.seen?.has(pet) ?? false;
      if (isSeen && calledAt > read.returnedAt) return `${String(pet)} was seen before it was created`;
      if (!isSeen && returnedAt < read.calledAt) return `${String(pet)} was created, and not seen afterwards`;
      if (!isSeen && reads.some((earlier) => earlier.returnedAt < read.calledAt && earlier.seen?.has(pet)))
        return `${String(pet)} was seen, and not seen afterwards`;
    }
  }
  const lists = reads.filter(({ requested }) => requested === undefined).map(({ seen }) => seen as ReadonlySet<bigint>);
  lists.sort((one, other) => one.size - other.size);
  for (const [index, smaller] of lists.entries()) {
    const larger = lists[index + 1];
    if (larger && !smaller.isSubsetOf(larger)) return 'two lists see different creations first';
  }
  return undefined;
}
