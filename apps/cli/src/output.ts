import { escapeControlCharacters } from '@animal-store/access-domain';
import { Command } from 'commander';

declare global {
  interface JSON {
    /** ECMAScript 2026: writes the text unchanged. */
    rawJSON(text: string): object;
  }
}

/** Shown for a stored time that JavaScript cannot represent. JSON.stringify writes null, which means "not set". */
const UNREADABLE = 'unreadable';

/** Returns a value as JSON. Bigints are written as exact integers. */
export function toJson(value: unknown): string {
  function exact(this: unknown, name: string, member: unknown): unknown {
    if (typeof member === 'bigint') return JSON.rawJSON(String(member));
    return (this as Readonly<Record<string, unknown>>)[name] instanceof Date ? (member ?? UNREADABLE) : member;
  }
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** Returns a table with left-aligned columns. Control characters, which a terminal would interpret, are escaped. */
export function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((line) => line.map(escapeControlCharacters));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Formats a date in UTC, to the second. */
export function formatTime(date: Date): string {
  if (Number.isNaN(date.getTime())) return UNREADABLE;
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Returns a command that can print its result as JSON. */
export function jsonCommand(name: string, description: string): Command {
  return new Command(name).description(description).option('--json', 'print JSON');
}
