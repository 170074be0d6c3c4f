import { redactKeys } from './redact-keys.js';

/** C0, DEL and C1. A terminal obeys them. */
const CONTROL_CHARACTER = /\p{Cc}/gu;

/** Returns one line for a terminal, with each control character as `\x1b`. */
export function escapeControlCharacters(text: string): string {
  return text.replace(CONTROL_CHARACTER, (character) => String.raw`\x` + character.charCodeAt(0).toString(16).padStart(2, '0'));
}

/** Returns the text as a terminal may show it: without API keys, and with line breaks as its only control characters. */
export function forTerminal(text: string): string {
  return redactKeys(text).split('\n').map(escapeControlCharacters).join('\n');
}
