import { escapeControlCharacters } from '@animal-store/access-domain';
import { JsonText } from '@animal-store/kernel';
import type { Command } from 'commander';

/** The parts of the process that a command may use. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Resolves after the text is written. Rejects if it cannot be written. */
  readonly stdout: (text: string) => Promise<void>;
  readonly stderr: (text: string) => void;
}

export interface JsonOption {
  readonly json?: boolean;
}

export function jsonCommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON');
}

/** Returns a value as JSON, with exact integers. */
export function toJson(value: unknown): string {
  return `${JsonText.of(value, 2).text}\n`;
}

/** Returns the rows as JSON, or as a table with a column for each member, or as a sentence if there are no `items`. */
export function toList(items: string, rows: readonly object[], { json }: JsonOption): string {
  if (json) return toJson(rows);
  const [first] = rows;
  if (!first) return `No ${items}.\n`;
  const header = Object.keys(first).map((name) => name.replaceAll(/[A-Z]/g, ' $&').toUpperCase());
  // A terminal would interpret control characters.
  const lines = [
    header,
    ...rows.map((row) => Object.values(row).map((value: Parameters<typeof cellOf>[0]) => escapeControlCharacters(cellOf(value)))),
  ];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return padded.map((line) => `${line.trimEnd()}\n`).join('');
}

function cellOf(value: bigint | boolean | number | string | object | null): string {
  if (value === null) return '-';
  if (value instanceof Date) return formatTime(value);
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object') return String(value);
  const members = Object.entries(value).map(([name, member]) => `${name}=${String(member)}`);
  return members.join(' ') || '-';
}

/** Formats a date in UTC, to the second. A stored time that JavaScript cannot represent has the text of PostgreSQL. */
export function formatTime(date: Date): string {
  return date.toJSON().replace(/\.\d+Z$/, 'Z');
}
