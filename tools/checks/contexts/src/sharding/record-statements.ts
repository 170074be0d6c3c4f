import { Client } from 'pg';

/** Records the text of every statement that this process sends from now on. */
export function recordStatements(): ReadonlySet<string> {
  const texts = new Set<string>();
  const prototype = Client.prototype as unknown as { query: (this: Client, ...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function (...args) {
    const [statement] = args as [string | { text: string }];
    texts.add(typeof statement === 'string' ? statement : statement.text);
    return query.apply(this, args);
  };
  return texts;
}
