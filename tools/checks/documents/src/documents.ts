import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@animal-store/checks/workspace';
import { renderEnvExample, renderVariables } from './variables.js';

/** The generated documents, and functions that return their text. */
export const DOCUMENTS: Readonly<Record<string, () => string>> = {
  '.env.example': renderEnvExample,
  'docs/variables.md': renderVariables,
};

// `npx nx documents checks`
if (import.meta.main) for (const [file, render] of Object.entries(DOCUMENTS)) writeFileSync(join(ROOT, file), render());
