import { beforeAll, describe, expect, it } from '@jest/globals';
import { Column, DataSource, Entity, type EntityMetadata, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { keyTableOf } from '../batching/idempotency-key.entity.js';
import { Table } from './table.js';

enum Colour {
  Red = 'red',
  DarkBlue = 'dark blue',
}

enum Unit {
  Metre = 'm',
  Inch = '"',
}

enum Fault {
  QuotedStart = '"start',
  QuotedEnd = 'end"',
}

@Entity({ name: 'order "lines"' })
class OrderLineEntity {
  @Column({ type: 'text', enum: Colour })
  colour!: Colour;

  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;

  @Column({ type: 'text', enum: Colour, nullable: true })
  lining!: Colour | null;

  @Column({ type: 'text', enum: Unit })
  unit!: Unit;

  @Column({ type: 'text', enum: [Fault.QuotedStart] })
  start!: Fault;

  @Column({ type: 'text', enum: [Fault.QuotedEnd] })
  end!: Fault;

  @Column('text')
  note!: string;
}

@Entity()
class TextIdEntity {
  @PrimaryColumn('text')
  id!: string;
}

@Entity()
class NumberEntity {
  @PrimaryColumn('bigint')
  number!: bigint;
}

@Entity()
class TwoPartIdEntity {
  @PrimaryColumn('bigint')
  id!: bigint;

  @PrimaryColumn('bigint')
  line!: bigint;
}

@Entity()
class PointEntity {
  @PrimaryColumn('bigint')
  id!: bigint;

  @Column('point')
  place!: string;
}

@Entity()
class TagsEntity {
  @PrimaryColumn('bigint')
  id!: bigint;

  @Column('text', { array: true })
  tags!: string[];
}

@Entity()
class HiddenEntity {
  @PrimaryColumn('bigint')
  id!: bigint;

  @Column('text', { select: false, nullable: true })
  note?: string | null;

  @Column('integer', { select: false })
  rank?: number;
}

@Entity()
class TimeEntity {
  @PrimaryColumn('bigint')
  id!: bigint;

  @Column('timestamptz')
  at!: Date;
}

let metadataOf: (entity: new () => object) => EntityMetadata;

beforeAll(async () => {
  const entities = [OrderLineEntity, TextIdEntity, NumberEntity, TwoPartIdEntity, PointEntity, TagsEntity, HiddenEntity, TimeEntity];
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
    expect(table.columns.map(({ property }) => property)).toEqual(['colour', 'lining', 'unit', 'start', 'end', 'note']);
  });

  it('writes an enum as it is, unless it can be null or a value needs escaping in JSON', () => {
    const json = Object.fromEntries(new Table(metadataOf(OrderLineEntity)).columns.map((column) => [column.property, column.json]));
    expect(json).toEqual({
      colour: { open: '"', value: '"colour"', close: '"' },
      lining: { open: '', value: `coalesce(to_json("lining")::text, 'null')`, close: '' },
      unit: { open: '', value: 'to_json("unit")', close: '' },
      start: { open: '', value: 'to_json("start")', close: '' },
      end: { open: '', value: 'to_json("end")', close: '' },
      note: { open: '', value: 'to_json("note")', close: '' },
    });
  });

  it.each([
    [TextIdEntity, 'TextIdEntity must have the primary key id of type bigint.'],
    [NumberEntity, 'NumberEntity must have the primary key id of type bigint.'],
    [TwoPartIdEntity, 'TwoPartIdEntity must have the primary key id of type bigint.'],
    [PointEntity, 'PointEntity.place: BatchedRepository does not support columns of type point.'],
    [HiddenEntity, 'HiddenEntity.rank has `select: false`, so it must be nullable or have a default.'],
    [TagsEntity, 'TagsEntity.tags: BatchedRepository does not support columns of type text.'],
    [TimeEntity, 'TimeEntity.at must have `precision: 3`, and the type timestamptz(3) in its migration.'],
  ])('is rejected by name if its columns are not supported: %p', (entity, message) => {
    expect(() => new Table(metadataOf(entity))).toThrow(new Error(message));
  });

  it('without the columns of an idempotency key cannot store keys', () => {
    expect(() => keyTableOf(metadataOf(TextIdEntity))).toThrow('TextIdEntity must have a column for the property clientId.');
  });
});
