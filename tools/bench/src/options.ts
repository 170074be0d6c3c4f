import { InvalidArgumentError } from 'commander';

/** Returns a commander parser for an integer in a range. */
export function parseInteger(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^[0-9]{1,9}$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`must be an integer from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}

/** Returns a commander parser for a comma-separated list of known names. */
export function parseNames<T extends string>(known: readonly T[]): (text: string) => T[] {
  return (text) =>
    text.split(',').map((part) => {
      const name = known.find((candidate) => candidate === part.trim());
      if (name === undefined) throw new InvalidArgumentError(`"${part.trim()}" must be one of ${known.join(', ')}.`);
      return name;
    });
}
