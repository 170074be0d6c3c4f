/** A pseudorandom number generator with a seed (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** Returns a number from 0 to 1, exclusive. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to `bound`, exclusive. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Returns a shuffled copy of the list. */
  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}
