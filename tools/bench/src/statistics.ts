/** The middle one, or the mean of the two middle ones; NaN of none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : [sorted[middle - 1], sorted[middle]];
  return low === undefined || high === undefined ? NaN : (low + high) / 2;
}

/** Of the ratios round by round: what slows a whole round slows both sides of its ratio. Rounds that one side lacks do not count. */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  const rounds = Math.min(numerators.length, denominators.length);
  const ratios = Array.from({ length: rounds }, (_, round) => (numerators[round] ?? NaN) / (denominators[round] ?? NaN));
  return median(ratios.filter(Number.isFinite));
}

/** How far apart the rounds lie: (greatest - least) / median. */
export function spread(numbers: readonly number[]): number {
  return (Math.max(...numbers) - Math.min(...numbers)) / median(numbers);
}
