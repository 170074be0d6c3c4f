import { changeInRanges, Database, ForwardMigration, migrateUp } from '@animal-store/database';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { describe, expect, it } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { describeMigrations } from './describe-migrations.js';
import { useDatabase } from './use-database.js';

class CreateOrders1763683200000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA orders');
    await queryRunner.query(
      'CREATE TABLE orders.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, size integer NOT NULL, note text)',
    );
    await queryRunner.query('CREATE TABLE orders.parts (order_id bigint REFERENCES orders.orders)');
  }
}

class AddQuantity1763683200001 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE orders.orders ADD quantity integer');
    await queryRunner.query(`CREATE FUNCTION orders.copy_size() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.quantity IS DISTINCT FROM OLD.quantity THEN NEW.size := NEW.quantity; ELSE NEW.quantity := NEW.size; END IF;
      RETURN NEW;
    END $$`);
    await queryRunner.query(`CREATE TRIGGER copy_size BEFORE INSERT OR UPDATE ON orders.orders
      FOR EACH ROW EXECUTE FUNCTION orders.copy_size()`);
  }
}

class RequireQuantity1763683200002 extends ForwardMigration {
  readonly transaction = false;

  override async up(queryRunner: QueryRunner): Promise<void> {
    const update = 'UPDATE orders.orders SET quantity = size WHERE quantity IS NULL AND id BETWEEN $1 AND $2';
    await changeInRanges(queryRunner, 'orders.orders', update);
    const alter = (change: string) => queryRunner.query(`ALTER TABLE orders.orders ${change}`);
    await alter('DROP CONSTRAINT IF EXISTS quantity_set');
    await alter('ADD CONSTRAINT quantity_set CHECK (quantity IS NOT NULL) NOT VALID');
    await alter('VALIDATE CONSTRAINT quantity_set');
    await alter('ALTER quantity SET NOT NULL, DROP CONSTRAINT quantity_set');
  }
}

class DropSize1763683200003 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER copy_size ON orders.orders');
    await queryRunner.query('DROP FUNCTION orders.copy_size');
    await queryRunner.query('ALTER TABLE orders.orders DROP COLUMN size');
  }
}

const migrations = [CreateOrders1763683200000, AddQuantity1763683200001, RequireQuantity1763683200002, DropSize1763683200003];
const persistence = { schema: 'orders', entities: [], migrations };

describeMigrations(persistence, {
  preparedChanges: ['orders.orders.quantity has become NOT NULL', 'orders.orders.size is dropped or renamed'],
});

it('a column is renamed over two releases, while each release and the one before it write rows', async () => {
  const database = await createTestDatabase();
  const options = { url: database.url, applicationName: 'spec', poolSize: 2, persistence: [persistence] };
  const dataSource = await new Database(options).initialize();
  const run = async (...statements: string[]) => {
    const results = [];
    for (const statement of statements) results.push(await dataSource.query<object[]>(statement));
    return results;
  };
  const migrate = async (count: number) => {
    const next = new Database({ ...options, persistence: [{ ...persistence, migrations: migrations.slice(0, count) }] });
    await next.initialize();
    await migrateUp(next);
    await next.destroy();
  };
  try {
    await migrate(1);
    await run('INSERT INTO orders.orders (size) SELECT generate_series(1, 5001)');
    await migrate(2);
    await run(
      'INSERT INTO orders.orders (size) VALUES (7)',
      'INSERT INTO orders.orders (quantity) VALUES (8)',
      'UPDATE orders.orders SET size = 9 WHERE id = 1',
      'UPDATE orders.orders SET quantity = 10 WHERE id = 2',
      `UPDATE orders.orders SET note = 'old' WHERE id = 3`,
    );
    await migrate(3);
    await run('INSERT INTO orders.orders (size) VALUES (11)', 'UPDATE orders.orders SET size = 12 WHERE id = 4');
    const changed = `SELECT string_agg(id || ':' || quantity, ' ' ORDER BY id) AS quantities FROM orders.orders WHERE quantity <> id`;
    expect(await run(changed)).toEqual([[{ quantities: '1:9 2:10 4:12 5002:7 5003:8 5004:11' }]]);
    expect(await run('SELECT FROM orders.orders WHERE size IS DISTINCT FROM quantity')).toEqual([[]]);
    await migrate(4);
    await run('INSERT INTO orders.orders (quantity) VALUES (13)');
    await expect(run('INSERT INTO orders.orders (note) VALUES (NULL)')).rejects.toMatchObject({ code: '23502' });
  } finally {
    await dataSource.destroy();
    await database.drop();
  }
});

describe('useDatabase', () => {
  const database = useDatabase(persistence);

  it('creates the tables of the context and empties them', async () => {
    const add = () => database.dataSource.query<{ id: bigint }[]>('INSERT INTO orders.orders (quantity) VALUES (1) RETURNING id');
    const [first] = await add();
    await database.dataSource.query('INSERT INTO orders.parts VALUES ($1)', [first?.id]);
    await database.empty();
    expect(await database.dataSource.query('SELECT 1 FROM orders.orders')).toEqual([]);
    expect(await add()).toEqual([{ id: 1n }]);
  });
});
