import { redactKeys } from './api-key-secret.js';

/** Escapes control characters (C0, DEL and C1), which terminals interpret, for example as `\x1b`. */
export function escapeControlCharacters(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => String.raw`\x` + character.charCodeAt(0).toString(16).padStart(2, '0'));
}

/** Returns the text with API keys redacted and control characters except line breaks escaped, safe for a terminal. */
export function sanitiseForTerminal(text: string): string {
  return redactKeys(text).split('\n').map(escapeControlCharacters).join('\n');
}
