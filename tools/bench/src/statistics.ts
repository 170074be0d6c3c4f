/** Returns the median, or NaN for an empty list. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return low === undefined || high === undefined ? NaN : (low + high) / 2;
}

/** Returns the median of the ratios per round, so that a slow round affects both sides. Rounds that one side lacks are left out. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  const rounds = Math.min(numerators.length, denominators.length);
  const ratios = Array.from({ length: rounds }, (_, round) => (numerators[round] ?? NaN) / (denominators[round] ?? NaN));
  return median(ratios.filter(Number.isFinite));
}

/** Returns (maximum - minimum) / median. */
export function spread(numbers: readonly number[]): number {
  return (Math.max(...numbers) - Math.min(...numbers)) / median(numbers);
}
