import { InvalidArgumentError } from 'commander';

/** Returns a commander parser for an integer. Zero rounds would keep every promise. */
export const parseInteger =
  (minimum: number) =>
  (text: string): number => {
    if (!/^[0-9]{1,9}$/.test(text) || Number(text) < minimum)
      throw new InvalidArgumentError(`must be an integer from ${minimum} to 999999999.`);
    return Number(text);
  };
