import { JsonText } from '@animal-store/kernel';
import { contexts } from './registered-contexts.js';
import { createApp } from './create-app.js';
import { readConfig } from './config/config.js';
import { createLogger } from './observability/logger.js';
import { OpenApiDocument } from './reference/openapi-document.js';

/** Returns the text of docs/openapi.json. Needs no database. */
export async function createOpenApiText(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const config = readConfig({ DATABASE_URL: 'postgres://unused', NODE_ENV: 'development', ...env }, contexts);
  const app = await createApp({ config, contexts, logger: createLogger('silent') });
  const document = app.get(OpenApiDocument).create();
  await app.close();
  return `${JsonText.of(document, 2).text}\n`;
}
