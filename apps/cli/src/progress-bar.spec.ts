import { describe, expect, it } from '@jest/globals';
import { progressBar } from './progress-bar.js';

describe('progressBar', () => {
  const drawn = (isTTY: boolean) => {
    const texts: string[] = [];
    const bar = progressBar({ isTTY, write: (text) => texts.push(text) }, 2_000);
    bar.update(1_000);
    // At once: it is not drawn so often.
    bar.update(1_001);
    bar.clear();
    return texts;
  };

  it('draws itself on a terminal and takes itself away', () => {
    expect(drawn(true)).toEqual([`\r[${'#'.repeat(15)}${' '.repeat(15)}]  50 %  1,000 of 2,000`, '\r\u001b[K']);
  });

  it('writes nothing elsewhere', () => expect(drawn(false)).toEqual([]));
});
