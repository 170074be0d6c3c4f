import { readRecords } from './fault-tables.js';
import { readMutationScores, renderMutationScores } from './mutation-scores.js';
import { readPromises, renderPromises } from './promises.js';
import { renderEnvExample, renderVariables } from './variables.js';

/** The generated documents, and functions that return their text. */
export const DOCUMENTS: Readonly<Record<string, () => string>> = {
  '.env.example': renderEnvExample,
  'docs/how-we-know.md': () => renderPromises(readPromises(), readRecords()) + renderMutationScores(readMutationScores()),
  'docs/variables.md': renderVariables,
};
