interface Pet {
  readonly id: number | bigint;
  readonly name: string;
  readonly categoryId: number | bigint;
}

interface Operations {
  add(name: string): Promise<Pet | { status: number; code: string }>;
  list(query: { limit: number; cursor?: string }): Promise<{ pets: readonly Pet[]; response: Pick<Response, 'headers'> }>;
}

export const rex = { name: 'Rex', categoryId: 9223372036854775807n };

export async function run({ add, list }: Operations) {
  for (const answer of [await add('Rex'), await add('Rex'), await add('Mia')]) {
    console.log('code' in answer ? `${answer.status} ${answer.code}` : `${answer.id} ${answer.categoryId}`);
  }
  let cursor: string | undefined;
  do {
    const { pets, response } = await list({ limit: 1, cursor });
    for (const pet of pets) console.log(`${pet.name} ${pet.id}`);
    cursor = /[?&]cursor=([^&>]+)/.exec(response.headers.get('Link') ?? '')?.[1];
  } while (cursor !== undefined);
}
