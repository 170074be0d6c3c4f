/**
 * Returns the value as JSON text, with exact bigints. Everything else is written as by JSON.stringify.
 * ADR 44 has the measurement that justifies it.
 */
export function toJson(value: unknown): string {
  return write(value) ?? 'null';
}

/** Returns undefined for values that JSON omits. */
function write(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return writeArray(value);
      return 'toJSON' in value ? write((value as { toJSON(): unknown }).toJSON()) : writeObject(value as Record<string, unknown>);
    default:
      return undefined;
  }
}

function writeArray(values: readonly unknown[]): string {
  let text = '[';
  for (let i = 0; i < values.length; i++) text += (i > 0 ? ',' : '') + (write(values[i]) ?? 'null');
  return text + ']';
}

function writeObject(object: Readonly<Record<string, unknown>>): string {
  let text = '{';
  for (const name of Object.keys(object)) {
    const member = write(object[name]);
    if (member !== undefined) text += (text.length > 1 ? ',' : '') + nameOf(name) + member;
  }
  return text + '}';
}

/** Member names as JSON text. Responses use few names. */
const names = new Map<string, string>();
const MAX_NAMES = 1000;

function nameOf(name: string): string {
  let text = names.get(name);
  if (text === undefined) {
    text = `${JSON.stringify(name)}:`;
    if (names.size < MAX_NAMES) names.set(name, text);
  }
  return text;
}
