import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { launchBrowser } from '../support/browser.js';

const CLIENT_CALLS = join(import.meta.dirname, 'client-calls.ts');

/** An empty page with its own origin in a real browser. Runs the client calls. */
export interface BrowserPage {
  readonly origin: string;
  run(name: string, args: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

export async function openBrowserPage(): Promise<BrowserPage> {
  const server = createServer((_request, response) =>
    response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Test</title>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.goto(origin);
  await addClientCalls(page);
  return {
    origin,
    // An expression, because Jest would compile a function for Node.js. JSON is valid JavaScript.
    run: (name, args) => page.evaluate(`bundle.clientCalls[${JSON.stringify(name)}](...${JSON.stringify(args)})`),
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function addClientCalls(page: Page): Promise<void> {
  const bundle = await rolldown({
    input: CLIENT_CALLS,
    platform: 'browser',
    resolve: { conditionNames: ['@animal-store/source', 'import'] },
  });
  // The default of `sourcemapIgnoreList` is a regular expression of Jest's realm, which native code rejects.
  const { output } = await bundle.generate({ format: 'iife', name: 'bundle', sourcemapIgnoreList: false });
  await bundle.close();
  await page.addScriptTag({ content: output[0].code });
}
