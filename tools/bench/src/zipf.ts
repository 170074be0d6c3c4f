/** Zipf distribution of ranks from 0: rank r is 1 / (r + 1) ** exponent as frequent as rank 0. */
export class Zipf {
  private readonly cumulative: readonly number[];

  constructor(ranks: number, exponent = 1) {
    let sum = 0;
    const sums = Array.from({ length: ranks }, (_, rank) => (sum += 1 / (rank + 1) ** exponent));
    this.cumulative = sums.map((value) => value / sum);
  }

  /** @param uniform from 0 up to, not including, 1 */
  rank(uniform: number): number {
    let low = 0;
    let high = this.cumulative.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.cumulative[middle] ?? 1) > uniform) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
