import { beforeAll, describe, expect, it } from '@jest/globals';
import { type HttpResponse, expectError, expectJson, linksOf } from '../support/http-response.js';
import type { RequestOptions } from '../support/api.js';
import { NEW_PET, type Pet, readPet } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
let pet: Pet;

beforeAll(async () => {
  pet = await api.createPet({ name: 'Rex', categoryId: 9007199254740993n, status: 'sold' });
});

function expectDeprecation(response: HttpResponse): void {
  expect(response.headers).toMatchObject({ deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
  expect(linksOf(response, 'successor-version')).toEqual([expect.stringMatching(/\/v1\/pets$/)]);
}

describe('getPet: GET /v1/pets/{petId}', () => {
  it('responds with 200 and exactly the Pet', async () => {
    const response = await api.get(`/v1/pets/${pet.id}`);
    expect(response.status).toBe(200);
    expectJson(response);
    expect(response.headers['cache-control']).toBe('private, no-cache');
    expect(readPet(response.text)).toEqual(pet);
  });

  it('ignores the query', async () => {
    expect((await api.get(`/v1/pets/${pet.id}?limit=0&status=lost&cursor=&x=%zz`)).status).toBe(200);
  });
});

describe('getPet: an unknown or invalid petId', () => {
  it.each(['0', '-1', '9223372036854775808', '01', '1%00', '1%2F2', '__proto__', '%zz', '%', '%ff', '%ED%A0%80', '9'.repeat(2_000)])(
    'responds with 404 pet_not_found to %.20s',
    async (petId) => {
      const response = await api.get(`/v1/pets/${petId}`);
      expectError(response, 'pet_not_found');
      expectDeprecation(response);
    },
  );
});

describe('getPet: deprecation', () => {
  it.each<[string, string, () => string, RequestOptions, number]>([
    ['200', 'GET', () => `/v1/pets/${pet.id}`, {}, 200],
    ['HEAD', 'HEAD', () => `/v1/pets/${pet.id}`, {}, 200],
    ['404', 'GET', () => '/v1/pets/-1', {}, 404],
    ['404 of an id that is not an integer', 'GET', () => '/v1/pets/abc', {}, 404],
    ['401 without a key', 'GET', () => `/v1/pets/${pet.id}`, { authorization: null }, 401],
    ['401 with a wrong key', 'GET', () => `/v1/pets/${pet.id}`, { authorization: 'Bearer wrong' }, 401],
    ['401 of invalid percent-encoding', 'GET', () => '/v1/pets/%zz', { authorization: null }, 401],
    ['401 of HEAD', 'HEAD', () => '/v1/pets/-1', { authorization: null }, 401],
  ])('is announced on %s', async (_what, method, path, options, status) => {
    const response = await api.send(method, path(), options);
    expect(response.status).toBe(status);
    expectDeprecation(response);
  });

  it('is not announced by other operations', async () => {
    for (const response of [await api.get('/v1/pets'), await api.create(NEW_PET), await api.create('{}')]) {
      expect(response.headers).not.toHaveProperty('deprecation');
      expect(response.headers).not.toHaveProperty('sunset');
      expect(linksOf(response, 'successor-version')).toEqual([]);
    }
  });
});
