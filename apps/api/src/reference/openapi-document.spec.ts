import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createOpenApiText } from '../openapi-text.js';
import { readConfig } from '../process/config.js';

describe('docs/openapi.json', () => {
  it('is what the code says: `npm run openapi` writes it anew', async () => {
    const kept = readFileSync(join(import.meta.dirname, '../../../../docs/openapi.json'), 'utf8');
    expect(kept).toBe(await createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused' })));
  });
});
