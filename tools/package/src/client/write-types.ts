/** Part of `npx nx openapi api`: writes the types of the client from docs/openapi.json. */
import { readFileSync, writeFileSync } from 'node:fs';
import { GENERATED_FILE, generateTypes } from './generate-types.js';

writeFileSync(GENERATED_FILE, await generateTypes(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')));
