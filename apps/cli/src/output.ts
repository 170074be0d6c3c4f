import { styleText } from 'node:util';
import { escapeControlCharacters } from '@animal-store/access-domain';
import type { Command } from 'commander';
import { type Output, paint } from './terminal.js';

declare global {
  interface JSON {
    /** ECMAScript 2026: writes the text unchanged. */
    rawJSON(text: string): object;
  }
}

/** Shown for a stored time that JavaScript cannot represent. JSON.stringify writes null, which means "not set". */
const UNREADABLE = 'unreadable';

/** Returns a value as JSON. Bigints are written as exact integers, and members that are undefined as null. */
export function toJson(value: unknown): string {
  function exact(this: unknown, name: string, member: unknown): unknown {
    if (typeof member === 'bigint') return JSON.rawJSON(String(member));
    return (this as Readonly<Record<string, unknown>>)[name] instanceof Date ? (member ?? UNREADABLE) : (member ?? null);
  }
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** The text of each cell, by the header of its column. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/**
 * Returns a table with left-aligned columns, or a sentence if there are no `items`. Control characters, which a terminal would interpret,
 * are escaped.
 */
export function toTable<Row>(output: Output, items: string, rows: readonly Row[], columns: Columns<Row>): string {
  if (rows.length === 0) return `No ${items}.\n`;
  const cells = rows.map((row) => Object.values(columns).map((cell) => escapeControlCharacters(cell(row))));
  const lines = [Object.keys(columns), ...cells];
  const widths = Object.keys(columns).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const [header = '', ...body] = padded.map((line) => line.trimEnd());
  return [paint(output, 'bold', header), ...body].map((line) => `${line}\n`).join('');
}

/** Formats a date in UTC, to the second. */
export function formatTime(date: Date | undefined): string {
  if (date === undefined) return '-';
  if (Number.isNaN(date.getTime())) return UNREADABLE;
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

const UNITS = [
  ['year', 31_536_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;
const relativeTime = new Intl.RelativeTimeFormat('en');

/** Formats a date relative to now, such as `in 89 days` or `3 hours ago`, in the largest unit. */
export function formatRelativeTime(date: Date | undefined): string {
  if (date === undefined || Number.isNaN(date.getTime())) return formatTime(date);
  const seconds = Math.trunc((date.getTime() - Date.now()) / 1000);
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relativeTime.format(Math.trunc(seconds / length), unit);
}

export interface JsonOption {
  readonly json?: boolean;
}

/** Adds a command whose help ends with an example of its arguments. */
export function addCommand(parent: Command, name: string, description: string, example = ''): Command {
  const words = [parent.parent?.name(), parent.name(), name, example].filter(Boolean);
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', describeExample(words.join(' ')));
}

/** Adds a command that can print its result as JSON. */
export function jsonCommand(parent: Command, name: string, description: string, example?: string): Command {
  return addCommand(parent, name, description, example).option('--json', 'print JSON');
}

export function describeExample(line: string): string {
  return `\n${styleTitle('Example:')}\n  ${line}`;
}

/** Styles a title of the help. commander removes the style if the output shows no colours. */
export function styleTitle(title: string): string {
  return styleText('bold', title, { validateStream: false });
}
