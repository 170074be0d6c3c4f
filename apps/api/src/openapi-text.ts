import { JsonText } from '@animal-store/kernel';
import { contexts } from './registered-contexts.js';
import { describeApp } from './create-app.js';
import { readConfig } from './config/config.js';

/** Returns the text of docs/openapi.json. */
export async function createOpenApiText(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const config = readConfig({ DATABASE_URL: 'postgres://unused', NODE_ENV: 'development', ...env }, contexts);
  return `${JsonText.of(await describeApp({ config, contexts }), 2).text}\n`;
}
