import { recordMutationScore } from './mutation-scores.js';

recordMutationScore(process.env['AREA'] ?? 'rules');
