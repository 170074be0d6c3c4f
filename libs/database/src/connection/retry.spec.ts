import { describe, expect, it, jest } from '@jest/globals';
import { QueryFailedError } from 'typeorm';
import { retryConflict, retryRead } from './retry.js';

const withCode = (code: string) => Object.assign(new Error(code), { code });

// error-meaning.spec.ts has the codes.
describe('retryRead', () => {
  it.each([withCode('57P01'), new QueryFailedError('SELECT 1', [], withCode('57P02'))])('reads once more on %o', async (error) => {
    const read = jest.fn<() => Promise<string>>().mockRejectedValueOnce(error).mockResolvedValueOnce('rows');
    expect(await retryRead(read)).toBe('rows');
    read.mockRejectedValueOnce(error).mockRejectedValueOnce(withCode('57P02'));
    await expect(retryRead(read)).rejects.toMatchObject({ code: '57P02' });
    expect(read).toHaveBeenCalledTimes(4);
  });

  it.each([withCode('57014'), Object.assign(new QueryFailedError('SELECT 1', [], withCode('42601')), { code: '57P01' }), undefined])(
    'rejects at once on %o',
    async (error) => {
      const read = jest.fn<() => Promise<string>>().mockRejectedValue(error);
      await expect(retryRead(read)).rejects.toBe(error);
      expect(read).toHaveBeenCalledTimes(1);
    },
  );
});

describe('retryConflict', () => {
  it.each([
    ['40P01', 4],
    ['40003', 1],
  ])('after %s makes %i attempts', async (code, attempts) => {
    const write = jest.fn<() => Promise<string>>().mockRejectedValue(withCode(code));
    await expect(retryConflict(write)).rejects.toMatchObject({ code });
    expect(write).toHaveBeenCalledTimes(attempts);
  });
});
