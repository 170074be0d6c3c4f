import bundled from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** The Chromium that an npm package carries where it has one, elsewhere the Chrome of the machine. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return chromium.launch({ channel: 'chrome' });
  // The package's own arguments would switch off what this suite looks at: --disable-web-security.
  return chromium.launch({ executablePath: await bundled.executablePath(), args: ['--no-sandbox', '--disable-gpu'] });
}
