import { beforeAll, expect, it } from '@jest/globals';
import { Column, DataSource, Entity, Exclusion, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Table } from './table.js';
import { uniqueColumnsOf } from './unique-columns.js';

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

beforeAll(() => dataSource.build());

function columnsOf(entity: new () => RoomEntity) {
  const metadata = dataSource.getMetadata(entity);
  return uniqueColumnsOf(metadata, new Table(metadata));
}

it('the unique columns of an entity are those of unique constraints, unique indexes and exclusion constraints, in their order', () => {
  const { columns = [], hasExclusion } = columnsOf(BookedRoomEntity) ?? {};
  expect(columns.map(({ property }) => property)).toEqual(['number', 'building', 'startsAt', 'id']);
  expect(hasExclusion).toBe(true);
});

it.each([DeferredRoomEntity, DeferredExclusionEntity, FreeRoomEntity])('%p has none that an INSERT … ON CONFLICT supports', (entity) =>
  expect(columnsOf(entity)).toBeUndefined(),
);
