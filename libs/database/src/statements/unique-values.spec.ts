import { beforeAll, describe, expect, it } from '@jest/globals';
import { Column, DataSource, Entity, Exclusion, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Table } from './table.js';
import { uniqueValuesOf, violationOf } from './unique-values.js';

abstract class RoomEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;

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

/** Builds the metadata without a connection. */
class Metadata extends DataSource {
  build = () => this.buildMetadatas();
}

const dataSource = new Metadata({
  type: 'postgres',
  entities: [BookedRoomEntity, DeferredRoomEntity, DeferredExclusionEntity, FreeRoomEntity],
});

/** Returns the constraints of an entity with the names of their columns. */
function constraintsOf(entity: new () => RoomEntity) {
  const metadata = dataSource.getMetadata(entity);
  return uniqueValuesOf(metadata, new Table(metadata)).map(({ columns, ...constraint }) => ({
    ...constraint,
    columns: columns.map(({ property }) => property),
  }));
}

describe('the unique values of an entity', () => {
  beforeAll(() => dataSource.build());

  it('are those of unique constraints, unique indexes and exclusion constraints, in the order of their columns', () => {
    const constraints = constraintsOf(BookedRoomEntity);
    expect(constraints).toHaveLength(3);
    expect(constraints).toEqual(
      expect.arrayContaining([
        { constraint: 'number_key', isExclusion: false, isIndex: false, columns: ['number', 'building'] },
        { constraint: 'start_idx', isExclusion: false, isIndex: true, columns: ['startsAt'] },
        { constraint: 'no_overlap', isExclusion: true, isIndex: false, columns: ['startsAt', 'number', 'building'] },
      ]),
    );
  });

  it.each([DeferredRoomEntity, DeferredExclusionEntity, FreeRoomEntity])('%p has none that an INSERT … ON CONFLICT supports', (entity) =>
    expect(constraintsOf(entity)).toEqual([]),
  );
});

it.each([
  [false, '23505', 'duplicate key value violates unique constraint "number_key"'],
  [true, '23P01', 'conflicting key value violates exclusion constraint "number_key"'],
])('a violation has the code and the text of PostgreSQL, exclusion: %p', (isExclusion, code, message) => {
  const error = violationOf({ constraint: 'number_key', isExclusion });
  expect(error).toMatchObject({ name: 'error', code, message, constraint: 'number_key' });
});
