import { describe, expect, it } from '@jest/globals';
import { getMetadataStorage, validateSync } from 'class-validator';
import { MayBeAbsent, MemberRule, QueryInteger, Rule } from './validation-rules.js';

const isText = (value: unknown) => typeof value === 'string';

class PageQuery {
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 100 })
  limit = 20;
}

class ListQuery extends PageQuery {
  @Rule('must be text', isText)
  text!: string;

  @MayBeAbsent()
  @Rule('must equal the text', (value, query) => value === (query as ListQuery).text)
  copy?: unknown;
}

const query = (members: Partial<ListQuery>) => Object.assign(new ListQuery(), { text: 'x' }, members);
const messages = (members: Partial<ListQuery>) =>
  validateSync(query(members)).flatMap(({ constraints }) => Object.values(constraints ?? {}));

describe('the rules of a class', () => {
  it.each<[Partial<ListQuery>, string[]]>([
    [{}, []],
    [{ limit: 100, copy: 'x' }, []],
    [{ limit: 101 }, ['limit must be an integer from 1 to 100']],
    [{ copy: 'y' }, ['copy must equal the text']],
    [{ copy: null }, ['copy must equal the text']],
    [{ text: 7 as never, copy: 7 }, ['text must be text']],
  ])('are checked by class-validator: %j', (members, expected) => expect(messages(members)).toEqual(expected));

  it('are recorded in the metadata of class-validator, with their predicates', () => {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(ListQuery, '', false, false);
    const rules = Map.groupBy(metadata, ({ propertyName }) => propertyName);
    const contexts = (name: string) => rules.get(name)?.map(({ context }) => context as unknown);
    expect(contexts('text')).toEqual([new MemberRule(isText)]);
    expect(contexts('limit')).toEqual([expect.any(MemberRule), new MemberRule()]);
  });

  it.each([
    ['0', 0],
    ['20', 20],
    ['999999999999999', 999999999999999],
    ['1000000000000000', '1000000000000000'],
    ['007', '007'],
    ['', ''],
    ['1.0', '1.0'],
    [7n, 7n],
    [undefined, undefined],
  ])('read a query parameter as an integer: %p', (received, expected) => {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(PageQuery, '', false, false);
    const read = metadata.map(({ context }) => (context as MemberRule).read).find((reader) => reader);
    expect(read?.(received)).toBe(expected);
  });
});
