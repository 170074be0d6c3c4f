import { expect, it } from '@jest/globals';
import { MemoryCache } from './memory-cache.js';

const response = (etag: string) => ({ etag, body: '[]' });

it('keeps the most recently used responses', () => {
  const cache = new MemoryCache(2);
  cache.set('/1', response('0'));
  cache.set('/2', response('2'));
  cache.set('/1', response('1'));
  expect(cache.get('/1')).toEqual(response('1'));
  cache.set('/3', response('3'));
  expect([cache.get('/1'), cache.get('/2'), cache.get('/3')]).toEqual([response('1'), undefined, response('3')]);
});

it('keeps 100 responses by default', () => {
  const cache = new MemoryCache();
  for (let i = 0; i < 101; i++) cache.set(`/${i}`, response(String(i)));
  expect([cache.get('/0'), cache.get('/1')]).toEqual([undefined, response('1')]);
});
