import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@animal-store/checks/workspace';
import { DOCUMENTS } from './documents.js';

for (const [file, render] of Object.entries(DOCUMENTS)) writeFileSync(join(ROOT, file), render());
