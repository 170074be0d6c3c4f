import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiText } from './openapi-text.js';
import { readConfig } from '../process/config.js';

const text = await createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused', LOG_LEVEL: 'error' }));
writeFileSync(join(import.meta.dirname, '../../../../docs/openapi.json'), text);
