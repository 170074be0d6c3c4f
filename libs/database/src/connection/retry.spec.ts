import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { QueryFailedError } from 'typeorm';

const sleep = jest.fn(() => Promise.resolve());
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: sleep }));
const { retryConflict, retryRead } = await import('./retry.js');

const withCode = (code: string) => Object.assign(new Error(code), { code });

beforeEach(() => {
  sleep.mockClear();
});

describe('retryRead', () => {
  it.each([withCode('57P01'), new Error('Connection terminated unexpectedly'), new QueryFailedError('SELECT 1', [], withCode('57P02'))])(
    'reads once more, after a pause of 50 ms, on %o',
    async (error) => {
      const read = jest.fn<() => Promise<string>>().mockRejectedValueOnce(error).mockResolvedValue('rows');
      expect(await retryRead(read)).toBe('rows');
      expect(read).toHaveBeenCalledTimes(2);
      expect(sleep.mock.calls).toEqual([[50]]);
    },
  );

  it.each([
    withCode('57014'),
    withCode('57P012'),
    // The code decides, not the message.
    Object.assign(new Error('Connection terminated unexpectedly'), { code: '42601' }),
    Object.assign(new QueryFailedError('SELECT 1', [], withCode('42601')), { code: '57P01' }),
    'Connection terminated unexpectedly',
    undefined,
  ])('rejects at once on %o', async (error) => {
    const read = jest.fn<() => Promise<string>>().mockRejectedValue(error);
    await expect(retryRead(read)).rejects.toBe(error);
    expect(read).toHaveBeenCalledTimes(1);
    expect(sleep).not.toHaveBeenCalled();
  });

  it('rejects with the error of the second attempt', async () => {
    const read = jest.fn<() => Promise<string>>().mockRejectedValueOnce(withCode('57P01')).mockRejectedValue(withCode('57P02'));
    await expect(retryRead(read)).rejects.toMatchObject({ code: '57P02' });
    expect(read).toHaveBeenCalledTimes(2);
  });
});

describe('retryConflict', () => {
  it.each(['40P01', '40001'])('repeats a write three times after %s', async (code) => {
    const write = jest.fn<() => Promise<string>>().mockRejectedValue(withCode(code));
    await expect(retryConflict(write)).rejects.toMatchObject({ code });
    expect(write).toHaveBeenCalledTimes(4);
    expect(sleep).toHaveBeenCalledTimes(3);
    write.mockResolvedValueOnce('written');
    expect(await retryConflict(write)).toBe('written');
  });

  it('rejects at once on another error', async () => {
    const write = jest.fn<() => Promise<string>>().mockRejectedValue(withCode('40003'));
    await expect(retryConflict(write)).rejects.toMatchObject({ code: '40003' });
    expect(write).toHaveBeenCalledTimes(1);
  });
});
