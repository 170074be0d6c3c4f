import { generateApiKeySecret, type KeyEnvironment } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';
import { createTerminalDestination } from './terminal-destination.js';

function shown(log: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  log(createLogger('debug', createTerminalDestination({ write: (line) => (text += line) })));
  return text;
}

describe('createTerminalDestination', () => {
  it('shows method, path, status and duration of a request', () => {
    const request = { requestId: 'r', clientId: '1', method: 'GET', path: '/v1/pets', status: 200, durationMs: 1.2 };
    expect(shown((logger) => logger.info(request, 'request'))).toMatch(/^\d\d:\d\d:\d\d {2}GET \/v1\/pets 200 {2}durationMs=1.2\n$/);
  });

  it('shows the message and the members of other lines', () => {
    expect(shown((logger) => logger.info({ applied: ['CreatePets'], none: undefined }, 'migrated'))).toMatch(
      /^\d\d:\d\d:\d\d {2}migrated {2}applied=\["CreatePets"\]\n$/,
    );
    expect(shown((logger) => logger.warn('Redis is lost'))).toMatch(/^\d\d:\d\d:\d\d {2}warning {2}Redis is lost\n$/);
  });

  it('shows the stack of an error', () => {
    const text = shown((logger) => logger.error({ err: new Error('no such thing') }, 'request failed'));
    expect(text).toMatch(/^\d\d:\d\d:\d\d {2}error {2}request failed\nError: no such thing\n +at /);
  });

  it.each([
    ['a message', { message: 'out of paper' }, 'out of paper'],
    ['neither stack nor message', ['out of paper'], '["out of paper"]'],
  ])('shows a thrown value with %s', (_what, err, said) => {
    const text = shown((logger) => logger.error({ err }, 'request failed'));
    expect(text.slice('14:03:59'.length)).toBe(`  error  request failed\n${said}\n`);
  });

  it('escapes control characters of requests, messages and errors', () => {
    const hostile = '\u001b]0;owned\u0007\u007f\u009b2J\r';
    const text = shown((logger) => {
      logger.info({ method: 'GET', path: `/${hostile}\n`, status: 404, code: hostile, other: [hostile] }, 'request');
      logger.warn({ reason: hostile }, hostile);
      logger.error({ err: new Error(hostile) }, 'failed');
      logger.error({ err: { message: hostile } }, 'failed');
    });
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text).toContain(String.raw`GET /\x1b]0;owned\x07\x7f\x9b2J\x0d\x0a 404`);
  });

  it('redacts API keys', () => {
    const key = generateApiKeySecret('test' as KeyEnvironment);
    expect(shown((logger) => logger.info({ path: `/${key}` }, `with ${key}`))).not.toContain(key.slice(-40));
  });
});
