type Pet = { id: number | bigint; name: string; categoryId: number | bigint };
type Failure = { status: number; code: string };
type Answer<Data> = Promise<{ data?: Data | Failure | void; error?: Failure; headers?: Headers; response?: Response }>;
/** Each client has another type for an int64. `never` is assignable to all of them. */
type Create = (pet: { name: string; categoryId: never }) => Answer<Pet>;
type List = (query: { limit: number; cursor?: string }) => Answer<readonly Pet[]>;

export const baseUrl = `${process.env['BASE_URL']}/v1`;
export const headers = { Authorization: `Bearer ${process.env['API_KEY']}` };
export const withKey = { headers: { ...headers, 'Idempotency-Key': 'import-1' } };

export async function run(create: Create, list: List) {
  for (const name of ['Rex', 'Rex', 'Mia']) {
    const { data, error } = await create({ name, categoryId: 9223372036854775807n as never });
    const answer = data ?? error!;
    console.log('code' in answer ? `${answer.status} ${answer.code}` : `${answer.id} ${answer.categoryId}`);
  }
  let cursor: string | undefined;
  do {
    const { data, response, headers = response!.headers } = await list({ limit: 1, cursor });
    for (const pet of data as readonly Pet[]) console.log(`${pet.name} ${pet.categoryId}`);
    cursor = /[?&]cursor=([^&>]+)/.exec(headers.get('Link') ?? '')?.[1];
  } while (cursor !== undefined);
}
