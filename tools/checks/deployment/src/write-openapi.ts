/** The target `openapi` of the API: writes docs/openapi.json and the types of the client. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiText } from '@animal-store/api/openapi';
import { GENERATED_FILE, generateTypes } from './client/generate-types.js';

const text = await createOpenApiText();
writeFileSync(join(import.meta.dirname, '../../../../docs/openapi.json'), text);
writeFileSync(GENERATED_FILE, await generateTypes(text));
