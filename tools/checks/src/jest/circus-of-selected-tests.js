import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import jestCircus from 'jest-circus/runner';

/**
 * Runs specs with jest-circus, but loads no file without selected tests. Stryker selects the tests that reach a mutant by their
 * names, while Jest loads every file that imports the mutated one.
 */
export default async function run(globalConfig, config, environment, runtime, specFile, sendMessageToJest) {
  const { testNamePattern } = globalConfig;
  const unselectedFile = `${specFile}.unselected.json`;
  if (testNamePattern && existsSync(unselectedFile)) {
    const unselected = JSON.parse(readFileSync(unselectedFile, 'utf8'));
    const selected = new RegExp(testNamePattern, 'i');
    if (!unselected.testResults.some(({ fullName }) => selected.test(fullName))) return unselected;
  }
  const result = await jestCircus.default(globalConfig, config, environment, runtime, specFile, sendMessageToJest);
  if (!existsSync(unselectedFile)) {
    const testResults = result.testResults.map((test) => ({ ...test, status: 'pending', duration: undefined }));
    const counts = { numPassingTests: 0, numFailingTests: 0, numPendingTests: testResults.length };
    writeFileSync(unselectedFile, JSON.stringify({ ...result, ...counts, testResults }));
  }
  return result;
}
