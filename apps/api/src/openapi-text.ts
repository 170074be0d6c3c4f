import { JsonText } from '@animal-store/kernel';
import { contexts } from './registered-contexts.js';
import { describeApp } from './create-app.js';
import type { Config } from './config/config.js';

/** Returns the text of docs/openapi.json. */
export async function createOpenApiText(config: Config): Promise<string> {
  return `${JsonText.of(await describeApp({ config, contexts }), 2).text}\n`;
}
