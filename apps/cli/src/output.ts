import { escapeControlCharacters } from '@animal-store/access-domain';
import type { Command } from 'commander';

declare global {
  interface JSON {
    /** ECMAScript 2026: writes the text unchanged. */
    rawJSON(text: string): object;
  }
}

/** The parts of the process that a command may use. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Resolves after the text is written. Rejects if it cannot be written. */
  readonly stdout: (text: string) => Promise<void>;
  readonly stderr: (text: string) => void;
  /** Whether nobody can read standard output, as on /dev/null. */
  readonly isDiscarded?: boolean;
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
export function toTable<Row>(items: string, rows: readonly Row[], columns: Columns<Row>): string {
  if (rows.length === 0) return `No ${items}.\n`;
  const cells = rows.map((row) => Object.values(columns).map((cell) => escapeControlCharacters(cell(row))));
  const lines = [Object.keys(columns), ...cells];
  const widths = Object.keys(columns).map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return padded.map((line) => `${line.trimEnd()}\n`).join('');
}

/** Formats a date in UTC, to the second. */
export function formatTime(date: Date | null): string {
  if (date === null) return '-';
  if (Number.isNaN(date.getTime())) return UNREADABLE;
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

export interface JsonOption {
  readonly json?: boolean;
}

/** Adds a command that can print its result as JSON. */
export function jsonCommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON');
}
