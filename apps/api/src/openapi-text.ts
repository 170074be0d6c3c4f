import { describeApp } from './create-app.js';
import type { Config } from './process/config.js';

/** The text of docs/openapi.json. */
export async function createOpenApiText(config: Config): Promise<string> {
  return `${JSON.stringify(await describeApp(config), null, 2)}\n`;
}
