import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// Run by Stryker in a copy of the workspace, whose node_modules leads back to the libraries that are not changed.
const libraries = readdirSync('libs', { recursive: true, encoding: 'utf8' }).filter((file) => /^[^.]*package\.json$/.test(file));
const alias = Object.fromEntries(
  libraries.map((file) => {
    const folder = file.slice(0, -'/package.json'.length);
    return [`@animal-store/${folder.replaceAll('/', '-')}`, join(import.meta.dirname, 'libs', folder, 'src/index.ts')];
  }),
);

export default defineConfig({
  resolve: { alias },
  test: {
    testTimeout: 60_000,
    include: ['libs/{kernel,*/domain,*/application,*/testing}/src/**/*.spec.ts'],
    exclude: ['**/*.integration.spec.ts', '**/dist/**', '**/node_modules/**'],
  },
});
