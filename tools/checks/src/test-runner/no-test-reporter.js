import { stderr } from 'node:process';

/** Fails a run of Jest in which no test ran, for example because `-t` matches none. https://jestjs.io/docs/configuration#custom-reporters */
export default class NoTestReporter {
  onRunComplete(_testContexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    if (numPassedTests + numFailedTests + numRuntimeErrorTestSuites > 0) return;
    this.error = new Error('No test ran. Check the path and the -t pattern.');
    stderr.write(`${this.error.message}\n`);
  }

  getLastError() {
    return this.error;
  }
}
