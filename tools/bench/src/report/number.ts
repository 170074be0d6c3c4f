/** Formats a number with grouped thousands and two decimals, one from 10 and none from 100. Returns a dash for a missing number. */
export function number(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2);
}
