import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  BeforeInsert,
  ChildEntity,
  Column,
  CreateDateColumn,
  DataSource,
  DeleteDateColumn,
  Entity,
  type EntityMetadata,
  Exclusion,
  Generated,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  RelationId,
  TableInheritance,
  Tree,
  Unique,
  UpdateDateColumn,
  VersionColumn,
  VirtualColumn,
} from 'typeorm';
import { Table, uniqueColumnsOf } from './table.js';

@Entity({ name: 'order "lines"' })
class OrderLineEntity {
  @Column('text')
  colour!: string;

  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;

  @Column('text')
  note!: string;
}

abstract class IdentifiedEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;
}

@Entity()
class TextIdEntity {
  @PrimaryColumn('text')
  id!: string;
}

@Entity()
class NumberEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  number!: bigint;
}

@Entity()
class AssignedIdEntity {
  @PrimaryColumn('bigint')
  id!: bigint;
}

@Entity()
class TwoPartIdEntity extends IdentifiedEntity {
  @PrimaryColumn('bigint')
  line!: bigint;
}

class Address {
  @Column('text')
  street!: string;
}

const LONG_NAME = `${'a'.repeat(55)}é`;
@Entity(LONG_NAME)
class LongNameEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  readonly id!: bigint;
}

@Entity({ orderBy: { value: 'ASC' } })
class OrderedEntity extends IdentifiedEntity {
  @Column('text')
  value!: string;
}

@Entity()
@TableInheritance({ column: { name: 'kind', type: 'text' } })
class ParentEntity extends IdentifiedEntity {}

@ChildEntity()
class ChildOfParentEntity extends ParentEntity {}

@Entity()
@Tree('closure-table')
class TreeEntity extends IdentifiedEntity {}

/** Returns an entity with a property `value`. */
function entityWith(...decorators: ((target: object, property: string) => void)[]): new () => object {
  @Entity()
  class ValueEntity extends IdentifiedEntity {}
  for (const decorate of decorators) decorate(ValueEntity.prototype, 'value');
  return ValueEntity;
}

abstract class RoomEntity extends IdentifiedEntity {
  @Column('text')
  building!: string;

  @Column('integer', { name: 'Number' })
  number!: number;

  @Column('bigint', { name: 'starts_at' })
  startsAt!: bigint;
}

@Entity()
@Unique('number_key', ['number', 'building'])
@Index('start_idx', ['startsAt'], { unique: true })
@Index('building_idx', ['building'])
@Exclusion('no_overlap', 'USING gist (int8range(starts_at, starts_at + "Number") WITH &&, building WITH =, missing WITH =)')
class BookedRoomEntity extends RoomEntity {}

@Entity()
@Unique('first_key', ['number'])
@Unique('deferred_key', ['building'], { deferrable: 'INITIALLY DEFERRED' })
class DeferredRoomEntity extends RoomEntity {}

@Entity()
@Unique('first_key', ['number'])
@Exclusion('deferred_exclusion', 'building WITH =', { deferrable: 'INITIALLY DEFERRED' })
class DeferredExclusionEntity extends RoomEntity {}

@Entity()
class FreeRoomEntity extends RoomEntity {}

const transformer = { to: (value: unknown) => value, from: (value: unknown) => value };
const VALUES: [string, new () => object][] = [
  ['a transformer', entityWith(Column('text', { transformer }))],
  ['soft deletion', entityWith(DeleteDateColumn({ type: 'timestamptz', precision: 3 }))],
  ['soft deletion', entityWith(DeleteDateColumn({ type: 'timestamptz', select: false }))],
  ['embedded columns', entityWith(Column(() => Address))],
  ['generated columns', entityWith(Column({ type: 'text', asExpression: `'x'`, generatedType: 'STORED' }))],
  ['generated values', entityWith(Column('uuid'), Generated('uuid'))],
  ['values that TypeORM sets', entityWith(VersionColumn())],
  ['values that TypeORM sets', entityWith(CreateDateColumn({ type: 'timestamptz', precision: 3 }))],
  ['values that TypeORM sets', entityWith(UpdateDateColumn({ type: 'timestamptz', precision: 3 }))],
  ['columns that are not inserted or selected', entityWith(Column({ type: 'text', insert: false }))],
  ['columns that are not inserted or selected', entityWith(Column('text', { select: false, nullable: true }))],
  ['defaults', entityWith(Column('integer', { default: 0 }))],
  ['columns that are not inserted or selected', entityWith(VirtualColumn({ type: 'text', query: (alias) => `SELECT ${alias}.id` }))],
  ['relations without a column of their own', entityWith(ManyToOne('OrderLineEntity'), JoinColumn())],
  ['eager or lazy relations', entityWith(ManyToOne('OrderLineEntity', { eager: true }), JoinColumn())],
  ['eager or lazy relations', entityWith(ManyToMany('OrderLineEntity', { lazy: true }), JoinTable())],
  ['identifiers of relations', entityWith(RelationId('line'), (target) => ManyToOne('OrderLineEntity')(target, 'line'))],
  ['relations that are stored with it', entityWith(ManyToMany(() => OrderLineEntity, { cascade: ['insert'] }))],
  ['relations that are stored with it', entityWith(ManyToMany('OrderLineEntity'), JoinTable())],
  ['listeners', entityWith(BeforeInsert())],
  ['columns of type numeric', entityWith(Column('numeric'))],
  ['columns of type double precision', entityWith(Column('float8'))],
  ['columns of type character', entityWith(Column('char'))],
  ['columns of type date', entityWith(Column('date'))],
  ['columns of type jsonb', entityWith(Column('jsonb'))],
  ['columns of type bytea', entityWith(Column('bytea'))],
  ['columns of type timestamp without time zone', entityWith(Column('timestamp'))],
  ['lists and objects as text', entityWith(Column('simple-array'))],
  ['lists and objects as text', entityWith(Column('simple-json'))],
  ['columns of type text', entityWith(Column('text', { array: true }))],
];
const TimeEntity = entityWith(Column('timestamptz'));
const ID_MESSAGE = 'must have the primary key id of type bigint, generated as an identity.';

let metadataOf: (entity: new () => object) => EntityMetadata;

beforeAll(async () => {
  const ids = [TextIdEntity, NumberEntity, AssignedIdEntity, TwoPartIdEntity];
  const entities = [
    OrderLineEntity,
    ...ids,
    OrderedEntity,
    LongNameEntity,
    ParentEntity,
    ChildOfParentEntity,
    TreeEntity,
    TimeEntity,
    ...[BookedRoomEntity, DeferredRoomEntity, DeferredExclusionEntity, FreeRoomEntity],
    ...VALUES.map(([, entity]) => entity),
  ];
  const dataSource = new DataSource({ type: 'postgres', entities });
  // What `initialize` does after connecting.
  await (dataSource as unknown as { buildMetadatas(): Promise<void> }).buildMetadatas();
  metadataOf = (entity) => dataSource.getMetadata(entity);
});

describe('an entity of BatchedRepository', () => {
  it('without a schema is in `public`, and its names are quoted', () => {
    const table = new Table(metadataOf(OrderLineEntity));
    expect(table.name).toBe('"public"."order ""lines"""');
    expect(table.idSequence).toBe('"public"."order ""lines""_id_seq"');
    expect(table.id).toMatchObject({ property: 'id', name: '"id"', type: 'bigint' });
    expect(table.columns.map(({ property }) => property)).toEqual(['colour', 'note']);
  });

  it.each([
    [TextIdEntity, `TextIdEntity ${ID_MESSAGE}`],
    [NumberEntity, `NumberEntity ${ID_MESSAGE}`],
    [AssignedIdEntity, `AssignedIdEntity ${ID_MESSAGE}`],
    [TwoPartIdEntity, `TwoPartIdEntity ${ID_MESSAGE}`],
    [TimeEntity, 'ValueEntity.value must have `precision: 3`, and the type timestamptz(3) in its migration.'],
    [OrderedEntity, 'OrderedEntity.value: BatchedRepository does not support an order of the entity.'],
    [LongNameEntity, `LongNameEntity.${LONG_NAME}: BatchedRepository does not support a name of more than 56 bytes.`],
    [ParentEntity, 'ParentEntity.kind: BatchedRepository does not support inheritance.'],
    [TreeEntity, 'TreeEntity.closure-table: BatchedRepository does not support trees.'],
    [ChildOfParentEntity, 'ChildOfParentEntity.kind: BatchedRepository does not support inheritance.'],
  ])('is rejected by name if its columns are not supported: %p', (entity, message) => {
    expect(() => new Table(metadataOf(entity))).toThrow(new Error(message));
  });

  it.each(VALUES)('is rejected by the name of the property if it has %s', (what, entity) => {
    expect(() => new Table(metadataOf(entity))).toThrow(/^ValueEntity\.value(\.street|\.id)?: /);
    expect(() => new Table(metadataOf(entity))).toThrow(`BatchedRepository does not support ${what}`);
  });
});

function columnsOf(entity: new () => RoomEntity) {
  const metadata = metadataOf(entity);
  return uniqueColumnsOf(metadata, new Table(metadata));
}

it('the unique columns of an entity are those of unique constraints, unique indexes and exclusion constraints, in their order', () => {
  expect(columnsOf(BookedRoomEntity)?.map(({ property }) => property)).toEqual(['number', 'building', 'startsAt', 'id']);
});

it.each([DeferredRoomEntity, DeferredExclusionEntity, FreeRoomEntity])('%p has none that an INSERT … ON CONFLICT supports', (entity) =>
  expect(columnsOf(entity)).toBeUndefined(),
);
