import { defineConfig } from 'vitest/config';

// What wants more of a machine than npm brings: `npm run verify:…`, each with a file of its own.
export default defineConfig({
  oxc: { decorator: { legacy: true, emitDecoratorMetadata: true }, assumptions: { setPublicClassFields: true } },
  resolve: { conditions: ['@animal-store/source', 'node'] },
  ssr: { resolve: { conditions: ['@animal-store/source', 'node'], externalConditions: ['node'] } },
  test: {
    include: ['**/src/**/*.verify.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['./libs/local-postgres/src/testing/postgres.global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
