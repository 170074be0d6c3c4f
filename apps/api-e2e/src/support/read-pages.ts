import type { Api } from './api.js';
import { expectStatus, linksOf } from './http-response.js';
import { type Pet, readPets } from './json.js';

/** Yields the pets of each page, following the `next` links from the path. */
export async function* readPages(api: Pick<Api, 'follow'>, path: string): AsyncGenerator<Pet[], void> {
  for (let link: string | undefined = path; link !== undefined;) {
    const response = await api.follow(link);
    expectStatus(response, 200);
    yield readPets(response.text);
    [link] = linksOf(response, 'next');
  }
}

/** Returns the pets of all pages from the path on. */
export async function readAllPages(api: Pick<Api, 'follow'>, path: string): Promise<Pet[]> {
  const pets: Pet[] = [];
  for await (const page of readPages(api, path)) pets.push(...page);
  return pets;
}
