/** Runs the JavaScript and TypeScript samples whose URLs its parent sends, and sends what each one prints. */
import { inspect } from 'node:util';

export type SampleResult = { readonly printed: string } | { readonly error: string };

process.on('message', (url: string) => {
  void run(url).then((result) => process.send?.(result));
});

async function run(url: string): Promise<SampleResult> {
  let printed = '';
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text: string | Uint8Array) => {
    printed += String(text);
    return true;
  };
  try {
    await import(url);
    return { printed };
  } catch (error) {
    return { error: inspect(error) };
  } finally {
    process.stdout.write = write;
  }
}
