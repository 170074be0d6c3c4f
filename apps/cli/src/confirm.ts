import { createInterface } from 'node:readline/promises';

/** Asks a yes/no question on a terminal. Returns true for yes; the default is no. */
export async function confirm(input: NodeJS.ReadableStream, output: NodeJS.WritableStream, question: string): Promise<boolean> {
  const terminal = createInterface({ input, output });
  try {
    const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
    return /^y(?:es)?$/i.test((await Promise.race([terminal.question(`${question} [y/N] `), closed])).trim());
  } finally {
    terminal.close();
  }
}
