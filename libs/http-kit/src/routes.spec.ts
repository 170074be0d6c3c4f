import { DomainError } from '@animal-store/kernel';
import { expect, it } from '@jest/globals';
import type { FastifyRequest } from 'fastify';
import { INVALID_REQUEST, rejectHeader } from './routes.js';

it('the messages about several headers are collected, and each error is thrown after the pipes', async () => {
  const request = {} as FastifyRequest;
  const errors = ['first', 'second'].map((message) => new DomainError(INVALID_REQUEST, message));
  const rejections = errors.map((error) => rejectHeader(request, error).catch((caught: unknown) => caught));
  expect(request.headerViolations).toEqual(['first', 'second']);
  const isEarly = await Promise.race([...rejections, Promise.resolve().then(() => 'after the pipes')]);
  expect(isEarly).toBe('after the pipes');
  expect(await Promise.all(rejections)).toEqual(errors);
});

it.each([
  ['of another code', new DomainError({ code: 'toy_broken', kind: 'unprocessable', message: 'The toy is broken.' })],
  ['that is a defect', Object.assign(new Error('defect'), { code: INVALID_REQUEST.code })],
])('an error %s is thrown at once', (_what, error) => {
  const request = {} as FastifyRequest;
  expect(() => rejectHeader(request, error)).toThrow(error);
  expect(request.headerViolations).toBeUndefined();
});
