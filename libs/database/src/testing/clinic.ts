import { DomainError, type ErrorDefinition, type Outcome } from '@animal-store/kernel';
import { Column, Entity, Exclusion, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner, Unique } from 'typeorm';
import { BatchedRepository, type EntityWithId } from '../batching/batched-repository.js';
import { IdempotencyKeyEntity } from '../batching/idempotency-keys.js';
import { Database } from '../database.js';
import type { Persistence } from '../persistence.js';
import { type ConstraintErrors, throwConstraintErrors } from '../statements/constraint-errors.js';
import { createIdempotencyKeyTable } from './order-lines.js';

/** No two bookings of the same animal overlap, unless one is cancelled. */
const NO_OVERLAP = `
  EXCLUDE USING gist (
    numrange(pet_id, pet_id, '[]') WITH &&,
    tsrange(starts_at AT TIME ZONE 'UTC', starts_at AT TIME ZONE 'UTC' + make_interval(mins => minutes)) WITH &&
  ) WHERE (status <> 'cancelled')`;

@Entity({ schema: 'clinic', name: 'bookings' })
@Exclusion('bookings_no_overlap', NO_OVERLAP)
export class BookingEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('bigint', { name: 'pet_id' })
  petId!: bigint;

  @Column({ type: 'timestamptz', name: 'starts_at', precision: 3 })
  startsAt!: Date;

  @Column('integer')
  minutes!: number;

  @Column('text')
  status!: string;

  @Column('bigint', { name: 'room_id', nullable: true })
  roomId!: bigint | null;
}

@Entity({ schema: 'clinic', name: 'invoices' })
@Unique('invoices_number_key', ['number'])
export class InvoiceEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  number!: string;
}

/** Has two constraints. */
@Entity({ schema: 'clinic', name: 'chips' })
@Unique('chips_code_key', ['code'])
@Unique('chips_pet_id_key', ['petId'])
class ChipEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  code!: string;

  @Column('bigint', { name: 'pet_id' })
  petId!: bigint;
}

@Entity({ schema: 'clinic', name: 'idempotency_keys' })
export class ClinicKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'row_id' })
  override rowId!: bigint;
}

class CreateClinic1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA clinic');
    await queryRunner.query('CREATE TABLE clinic.rooms (id bigint PRIMARY KEY)');
    await queryRunner.query(`
      CREATE TABLE clinic.bookings (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, pet_id bigint NOT NULL, starts_at timestamptz(3) NOT NULL,
        minutes integer NOT NULL CONSTRAINT bookings_minutes_check CHECK (minutes > 0), status text NOT NULL,
        room_id bigint CONSTRAINT bookings_room_id_fkey REFERENCES clinic.rooms,
        CONSTRAINT bookings_no_overlap ${NO_OVERLAP}
      )`);
    await queryRunner.query(`
      CREATE TABLE clinic.invoices (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number text COLLATE "C" NOT NULL CONSTRAINT invoices_number_key UNIQUE
      )`);
    await queryRunner.query(`
      CREATE TABLE clinic.chips (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code text NOT NULL CONSTRAINT chips_code_key UNIQUE,
        pet_id bigint NOT NULL CONSTRAINT chips_pet_id_key UNIQUE
      )`);
    await queryRunner.query(createIdempotencyKeyTable('clinic.idempotency_keys', 'row_id'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP SCHEMA clinic CASCADE');
  }
}

const clinicPersistence: Persistence = {
  schema: 'clinic',
  entities: [BookingEntity, InvoiceEntity, ChipEntity, ClinicKeyEntity],
  migrations: [CreateClinic1763683200000],
};

const conflict = (code: string, message: string): ErrorDefinition => ({ code, kind: 'conflict', message });
export const CLINIC_ERRORS: ConstraintErrors = {
  bookings_no_overlap: conflict('animal_booked', 'The animal has another booking at this time.'),
  bookings_room_id_fkey: { code: 'room_unknown', kind: 'unprocessable', message: 'No room has this identifier.' },
  invoices_number_key: conflict('invoice_number_taken', 'Another invoice has this number.'),
  chips_code_key: conflict('chip_code_taken', 'Another chip has this code.'),
  chips_pet_id_key: conflict('pet_has_chip', 'The animal has a chip.'),
};

export function openClinic(url: string): Promise<Database> {
  return new Database({ url, applicationName: 'spec', poolSize: 8, persistence: [clinicPersistence] }).initialize();
}

/** Returns functions that insert with or without a key, and reject with domain errors. */
export function clinicOf(database: Database) {
  const keys = database.getRepository(ClinicKeyEntity);
  const bookings = new BatchedRepository(database.getRepository(BookingEntity), keys);
  const invoices = new BatchedRepository(database.getRepository(InvoiceEntity), keys);
  const chips = new BatchedRepository(database.getRepository(ChipEntity), keys);
  const throwDomainErrors = throwConstraintErrors(CLINIC_ERRORS);
  const keyOf = (key?: string) => (key === undefined ? undefined : { clientId: 1n, key });
  const idOf = ({ result: { id } }: Outcome<EntityWithId>) => id;
  return {
    book: (values: Partial<BookingEntity>, key?: string): Promise<bigint> => {
      const row = { petId: 1n, startsAt: new Date(0), minutes: 30, status: 'booked', roomId: null, ...values };
      return bookings.add(row, keyOf(key)).then(idOf, throwDomainErrors);
    },
    invoice: (number: string, key?: string): Promise<bigint> => invoices.add({ number }, keyOf(key)).then(idOf, throwDomainErrors),
    chip: (code: string, petId: bigint, key?: string): Promise<bigint> =>
      chips.add({ code, petId }, keyOf(key)).then(idOf, throwDomainErrors),
  };
}

/** Returns `inserted`, the code of a domain error, or the message of another error, for each promise. */
export async function outcomesOf(promises: readonly Promise<unknown>[]): Promise<string[]> {
  return (await Promise.allSettled(promises)).map((end) => {
    if (end.status === 'fulfilled') return 'inserted';
    const error = end.reason as Error;
    return error instanceof DomainError ? error.code : `${error.name}: ${error.message}`;
  });
}

/** Minutes between the starts of bookings. Each overlaps the next one. */
const STEP_MINUTES = 20;
const ROWS = 24;

type Clinic = ReturnType<typeof clinicOf>;

/** Inserts invoices and overlapping bookings, most of which other processes insert in the same round, in another order, with and without keys. */
export function insertRound({ invoice, book }: Clinic, round: number, process: number): Promise<string[]> {
  const rows = Array.from({ length: ROWS }, (_, row) => row);
  const inserts = (process % 2 === 0 ? rows : rows.toReversed()).flatMap((row) => {
    const key = row % 3 === process % 3 ? undefined : [process, round, row].join(' ');
    const startsAt = new Date((Math.floor(row / 4) * STEP_MINUTES + process * 5) * 60_000);
    return [
      invoice(`${String(round)} ${String(row)}`, key && `invoice ${key}`),
      book({ petId: BigInt(round * ROWS + (row % 4)), startsAt }, key && `booking ${key}`),
    ];
  });
  return outcomesOf(inserts);
}
