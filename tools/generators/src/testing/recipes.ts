/** The files of a workspace. Paths are relative to it. */
export interface Files {
  read(path: string): string;
  write(path: string, text: string): void;
  /** The names in a folder. */
  list(folder: string): readonly string[];
}

/** Pairs of texts: the first is replaced by the second, once. */
type Edits = readonly (readonly [from: string, to: string])[];

/** A section of docs/adding-a-context.md, performed on a generated context `orders`. */
export interface Recipe {
  /** The heading of the section. */
  readonly title: string;
  /** The name of the migration, which is generated first. */
  readonly migration: string;
  readonly maxProductionFiles: number;
  /** Edits by path, relative to the context or starting with `apps/`. `…` is the time of the migration. */
  readonly edits: Readonly<Record<string, Edits>>;
}

const ROOT = 'libs/orders';
const MIGRATIONS = 'infrastructure/src/migrations';
const E2E = 'apps/api-e2e/src/contexts/orders/orders.integration.spec.ts';

const FIELD: Recipe = {
  title: 'Add a field',
  migration: 'add-quantity',
  maxProductionFiles: 7,
  edits: {
    'domain/src/order.ts': [
      [
        '/** What a client sends.',
        `export const ORDER_QUANTITY_RULE = 'must be an integer from 1 to 1000';

export function isOrderQuantity(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1000;
}

/** What a client sends.`,
      ],
      ['  readonly name: string;\n}', '  readonly name: string;\n  readonly quantity?: number | undefined;\n}'],
      [
        'private constructor(readonly name: string) {}',
        'private constructor(\n    readonly name: string,\n    readonly quantity: number,\n  ) {}',
      ],
      ['create({ name }: NewOrderInput)', 'create({ name, quantity = 1 }: NewOrderInput)'],
      [
        '[...(isOrderName(name) ? [] : [`name ${ORDER_NAME_RULE}`])]',
        `[
      ...(isOrderName(name) ? [] : [\`name \${ORDER_NAME_RULE}\`]),
      ...(isOrderQuantity(quantity) ? [] : [\`quantity \${ORDER_QUANTITY_RULE}\`]),
    ]`,
      ],
      ['new NewOrder(name)', 'new NewOrder(name, quantity)'],
      ['assertSameAs({ name }: Order)', 'assertSameAs({ name, quantity }: Order)'],
      ['this.name === name', 'this.name === name && this.quantity === quantity'],
      [
        '    readonly name: string,\n  ) {}\n\n  /** Does not',
        '    readonly name: string,\n    readonly quantity: number,\n  ) {}\n\n  /** Does not',
      ],
      ['rehydrate({ id, name }: OrderView)', 'rehydrate({ id, name, quantity }: OrderView)'],
      ['new Order(id, name)', 'new Order(id, name, quantity)'],
    ],
    'domain/src/index.ts': [
      ['isOrderName,', 'isOrderName, isOrderQuantity,'],
      ['ORDER_NAME_RULE,', 'ORDER_NAME_RULE, ORDER_QUANTITY_RULE,'],
    ],
    'infrastructure/src/order.entity.ts': [['  name!: string;\n', "  name!: string;\n\n  @Column('integer')\n  quantity!: number;\n"]],
    [`${MIGRATIONS}/…-add-quantity.ts`]: [
      [
        "async up(_queryRunner: QueryRunner): Promise<void> {\n    throw new Error('The migration add-quantity is not written yet');",
        `async up(queryRunner: QueryRunner): Promise<void> {
    // During a deployment, processes of the previous release insert rows without the column. They need the default.
    await queryRunner.query(\`
      ALTER TABLE orders.orders ADD COLUMN quantity integer NOT NULL DEFAULT 1
        CONSTRAINT orders_quantity_check CHECK (quantity BETWEEN 1 AND 1000)\`);`,
      ],
      [
        "async down(_queryRunner: QueryRunner): Promise<void> {\n    throw new Error('Reverting the migration add-quantity is not written yet');",
        "async down(queryRunner: QueryRunner): Promise<void> {\n    await queryRunner.query('ALTER TABLE orders.orders DROP COLUMN quantity');",
      ],
    ],
    'http/src/order.dto.ts': [
      ['import { EXAMPLE_ID, INT64_SCHEMA, Rule } from', 'import { EXAMPLE_ID, INT64_SCHEMA, MayBeAbsent, Rule } from'],
      ['isOrderName,', 'isOrderName, isOrderQuantity,'],
      ['ORDER_NAME_RULE }', 'ORDER_NAME_RULE, ORDER_QUANTITY_RULE }'],
      ['ApiProperty, ApiSchema', 'ApiProperty, ApiPropertyOptional, ApiSchema'],
      [
        '  name!: string;\n}\n\n/**',
        `  name!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1000, description: 'How many are ordered. Default: 1.' })
  @MayBeAbsent()
  @Rule(ORDER_QUANTITY_RULE, isOrderQuantity)
  quantity?: number;
}

/**`,
      ],
      [
        '  name!: string;\n}\n',
        `  name!: string;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1000, description: 'How many are ordered.', example: 1 })
  quantity!: number;
}
`,
      ],
    ],
    'domain/src/order.spec.ts': [
      [
        "create({ name: ' Réx ' })).toMatchObject({ name: ' Réx ' })",
        "create({ name: ' Réx ', quantity: 1000 })).toMatchObject({ name: ' Réx ', quantity: 1000 })",
      ],
      [
        "it.each([[{ name: '' }, ",
        "it.each([[{ name: 'first', quantity: 0 }, /^quantity must be an integer from 1 to 1000$/], [{ name: '' }, ",
      ],
      ["it.each([{ name: 'First' }])", "it.each([{ name: 'First' }, { quantity: 2 }])"],
    ],
    'testing/src/order-builder.ts': [
      ["[{ name: 'other' }]", "[{ name: 'other' }, { quantity: 2 }]"],
      ['fc.record({ name: visibleTexts })', 'fc.record({ name: visibleTexts, quantity: fc.integer({ min: 1, max: 1000 }) })'],
    ],
    [E2E]: [
      [
        "  it('returns the first response to a retry",
        `  it('returns the quantity, 1 by default, and 400 for any that is not from 1 to 1000', async () => {
    const seven = await create('{"name":"first","quantity":7}');
    expect(JSON.parse(seven.text)).toEqual({ id: expect.any(Number), name: 'first', quantity: 7 });
    expect(JSON.parse((await create('{"name":"first"}')).text)).toMatchObject({ quantity: 1 });
    for (const quantity of ['0', '1001', '1.5', '"1"', 'null'])
      expect(expectError(await create(\`{"name":"first","quantity":\${quantity}}\`), 'invalid_request')).toMatch(/^quantity must be an integer from 1 to 1000$/);
  });

  it('returns the first response to a retry`,
      ],
    ],
  },
};

const FILTER: Recipe = {
  title: 'Add a filter',
  migration: 'index-orders-by-quantity',
  maxProductionFiles: 6,
  edits: {
    'domain/src/order-reader.ts': [
      [
        '/** The filters of a list. There are none yet; docs/adding-a-context.md shows how to add one. */\n',
        '/** An undefined member does not filter. */\n',
      ],
      [
        'export type OrderFilter = Readonly<Record<string, never>>;',
        'export interface OrderFilter {\n  readonly quantity?: number | undefined;\n}',
      ],
    ],
    'http/src/list-orders.query.ts': [
      [
        "import { PageQueryOf } from '@animal-store/http-contract';",
        "import { MayBeAbsent, PageQueryOf, QueryInteger } from '@animal-store/http-contract';\nimport { ApiPropertyOptional } from '@nestjs/swagger';",
      ],
      [
        "PageQueryOf('orders') {}",
        `PageQueryOf('orders') {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 1000, description: 'Only orders of this quantity.' })
  @MayBeAbsent()
  @QueryInteger({ minimum: 1, maximum: 1000 })
  quantity?: number;
}`,
      ],
    ],
    'http/src/orders.controller.ts': [['execute({}, query)', 'execute({ quantity: query.quantity }, query)']],
    [`${MIGRATIONS}/…-index-orders-by-quantity.ts`]: [
      [
        'import type { MigrationInterface',
        "import { withoutLockTimeout } from '@animal-store/database';\nimport type { MigrationInterface",
      ],
      [
        "async up(_queryRunner: QueryRunner): Promise<void> {\n    throw new Error('The migration index-orders-by-quantity is not written yet');",
        `/** CREATE INDEX CONCURRENTLY cannot run inside a transaction. */
  transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await withoutLockTimeout(queryRunner, async () => {
      // An interrupted attempt leaves an invalid index.
      await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS orders.orders_quantity_id_idx');
      await queryRunner.query('CREATE INDEX CONCURRENTLY orders_quantity_id_idx ON orders.orders (quantity, id)');
    });`,
      ],
      [
        "async down(_queryRunner: QueryRunner): Promise<void> {\n    throw new Error('Reverting the migration index-orders-by-quantity is not written yet');",
        "async down(queryRunner: QueryRunner): Promise<void> {\n    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS orders.orders_quantity_id_idx');",
      ],
    ],
    'testing/src/in-memory-orders.ts': [
      ['list(_filter: OrderFilter,', 'list({ quantity }: OrderFilter,'],
      [
        '(order) => after === undefined || order.id > after',
        '(order) => (quantity === undefined || order.quantity === quantity) && (after === undefined || order.id > after)',
      ],
    ],
    'testing/src/orders-contract.ts': [
      [
        "    it('separates the items",
        `    it('lists by quantity, page by page', async () => {
      for (let i = 0; i < 9; i++) await repository.add(aNewOrder({ name: \`number \${String(i)}\`, quantity: 1 + (i % 3) }));
      const first = await reader.list({ quantity: 2 }, { limit: 2 });
      expect(first.items.map(({ name }) => name)).toEqual(['number 1', 'number 4']);
      const second = await reader.list({ quantity: 2 }, { limit: 2, after: first.next });
      expect(second.items.map(({ name }) => name)).toEqual(['number 7']);
      expect(second.next).toBeUndefined();
      expect((await reader.list({ quantity: 4 }, { limit: 2 })).items).toEqual([]);
    });

    it('separates the items`,
      ],
    ],
    [E2E]: [
      [
        "  it('returns an ETag, and 304 until",
        `  it('returns the orders of a quantity, page by page', async () => {
    const created: number[] = [];
    for (const quantity of [500, 501, 500, 500]) created.push(read(await create(\`{"name":"first","quantity":\${String(quantity)}}\`)).id);
    const page = await api.get('/v1/orders?quantity=500&limit=2');
    const next = await api.follow(linksOf(page, 'next')[0] ?? '');
    const ids = [page, next].flatMap(({ text }) => (JSON.parse(text) as { id: number }[]).map(({ id }) => id));
    expect(ids).toEqual([created[0], created[2], created[3]]);
    expect(linksOf(next, 'next')).toEqual([]);
    expect(expectError(await api.get('/v1/orders?quantity=0'), 'invalid_request')).toContain('quantity');
  });

  it('returns an ETag, and 304 until`,
      ],
    ],
  },
};

export const RECIPES: readonly Recipe[] = [FIELD, FILTER];

/** Edits the files of the recipe. Its migration must exist. */
export function applyRecipe({ edits }: Recipe, files: Files): void {
  for (const [path, replacements] of Object.entries(edits)) {
    const file = path.startsWith('apps/') ? path : `${ROOT}/${withTimestamp(path, files)}`;
    files.write(
      file,
      replacements.reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`${file} does not contain: ${from}`);
        return text.replace(from, () => to);
      }, files.read(file)),
    );
  }
}

function withTimestamp(path: string, files: Files): string {
  const [, name] = path.split('…');
  if (name === undefined) return path;
  const migration = files.list(`${ROOT}/${MIGRATIONS}`).find((file) => file.endsWith(name));
  if (migration === undefined) throw new Error(`there is no migration ${name}`);
  return `${MIGRATIONS}/${migration}`;
}

/** Returns the production files, named as in docs/adding-a-context.md: without specs, their support and documents. */
export function productionFiles(paths: readonly string[]): string[] {
  return paths
    .filter((path) => path.endsWith('.ts') && !/\.spec\.ts$|\/testing\/|-e2e\//.test(path))
    .map((path) => path.replace(`${ROOT}/`, '').replace(/\/[0-9]{13}-/, '/…-'))
    .sort();
}

/** Returns the files in the table of the recipe's section. */
export function documentedFiles(page: string, { title }: Recipe): string[] {
  const [, section = ''] = new RegExp(`^## ${title}$([^]*?)(?=^## )`, 'm').exec(page) ?? [];
  return [...section.matchAll(/^\| `(\S+\.ts)` /gm)].map(([, path = '']) => path).sort();
}
