import { CliError, reasonOf } from './failure.js';
import type { Terminal } from './terminal.js';

/**
 * Prints a new key before it is committed, so that there is no key that nobody has seen. `issue` calls `deliver` in the transaction.
 * @throws CliError if the key cannot be printed, or if it was printed and the commit failed
 */
export async function printNewKey<Issued, Result>(
  { keyOutput }: Terminal,
  show: (issued: Issued) => string,
  issue: (deliver: (issued: Issued) => void) => Promise<Result>,
): Promise<Result> {
  const printed: Issued[] = [];
  const deliver = (issued: Issued) => {
    if (keyOutput.isDiscarded) throw notPrinted('standard output is closed or /dev/null');
    try {
      keyOutput.write(show(issued));
    } catch (error) {
      throw notPrinted(reasonOf(error));
    }
    printed.push(issued);
  };
  try {
    return await issue(deliver);
  } catch (error) {
    if (printed.length === 0) throw error;
    throw new CliError(`the printed key may not exist, see "keys list": ${reasonOf(error)}`);
  }
}

function notPrinted(reason: string): CliError {
  return new CliError(`the new key cannot be printed, so nothing was changed: ${reason}`);
}
