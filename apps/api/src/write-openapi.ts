import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from './configuration/config.js';
import { createOpenApiText } from './openapi/openapi-text.js';

const text = await createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused', LOG_LEVEL: 'error' }));
writeFileSync(join(import.meta.dirname, '../../../docs/openapi.json'), text);
