import bundled from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** Launches the Chromium of an npm package on Linux x64, and the installed Chrome elsewhere. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return chromium.launch({ channel: 'chrome' });
  // The default arguments of the package include --disable-web-security, which would disable what this suite tests.
  return chromium.launch({ executablePath: await bundled.executablePath(), args: ['--no-sandbox', '--disable-gpu'] });
}
