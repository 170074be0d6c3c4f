import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DurablePostgres, query } from '@animal-store/local-postgres/testing';
import { type ListRequest, type PageStart, type Status } from './workloads.js';

/**
 * A quarter of the memory, the starting value that PostgreSQL's manual recommends. Ten million pets would not fit into the default.
 * https://www.postgresql.org/docs/current/runtime-config-resource.html#GUC-SHARED-BUFFERS
 */
const SHARED_BUFFERS_MB = Math.floor(totalmem() / 4 / 1024 ** 2);

/** Of this checkout: another one may add other pets. */
const CLI = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));

export interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: Status;
}

/** A durable PostgreSQL, with the defaults of fsync and synchronous_commit. */
export class DatabaseServer {
  private constructor(
    private readonly postgres: DurablePostgres,
    /** Folder for logs and other files of the run. */
    readonly folder: string,
  ) {}

  static async start(cleanUp: AsyncDisposableStack): Promise<DatabaseServer> {
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-bench-'));
    cleanUp.defer(() => rm(folder, { recursive: true, force: true }));
    const postgres = await DurablePostgres.start([`shared_buffers=${SHARED_BUFFERS_MB}MB`]);
    cleanUp.defer(() => postgres.remove());
    return new DatabaseServer(postgres, folder);
  }

  get pid(): number {
    return this.postgres.pid;
  }

  /** Creates a database with tables and API keys by the programs of a checkout, and with the same `rows` pets for all of them. */
  async createCatalogue(name: string, workspace: string, rows: number, clients: number): Promise<Catalogue> {
    await query(this.postgres.url, `CREATE DATABASE ${name}`);
    const url = new URL(this.postgres.url);
    url.pathname = `/${name}`;
    const env = { ...process.env, DATABASE_URL: url.href };
    const cli = async (program: string, ...args: string[]) =>
      (await promisify(execFile)(process.execPath, [program, ...args], { env })).stdout;
    const program = join(workspace, 'apps/cli/dist/main.js');
    await cli(program, 'migrate', 'up');
    await cli(CLI, 'seed', '--count', `${rows}`);
    const keys: string[] = [];
    for (let client = 0; client < clients; client++) {
      const created = JSON.parse(await cli(program, 'keys', 'create', '--client', `bench ${client}`, '--json')) as { readonly key: string };
      keys.push(created.key);
    }
    return new Catalogue(this, url.href, rows, keys);
  }
}

/** A seeded database, and the pets that correct responses contain. */
export class Catalogue {
  /** The starts of consecutive pages for each filter. */
  pages: readonly (readonly PageStart[])[] = [];

  constructor(
    readonly server: DatabaseServer,
    readonly url: string,
    /** Number of seeded pets. Their ids start at 1. */
    readonly rows: number,
    readonly keys: readonly string[],
  ) {}

  page({ limit, status, after = 0 }: Pick<ListRequest, 'limit' | 'status' | 'after'>): Promise<Pet[]> {
    return this.select(`WHERE id > ${after} ${status ? `AND status = '${status}'` : ''} ORDER BY id LIMIT ${limit}`);
  }

  async pet(id: number): Promise<Pet | undefined> {
    const [pet] = await this.select(`WHERE id = ${id}`);
    return pet;
  }

  /** Restores the seeded rows and runs a checkpoint, so that all targets start with the same state. */
  async restore(): Promise<void> {
    await query(this.url, `DELETE FROM pets.pets WHERE id > ${this.rows}`, 'VACUUM (ANALYZE) pets.pets', 'CHECKPOINT');
  }

  /** Runs a checkpoint, so that each target starts without dirty pages and writes its own full-page images. */
  async checkpoint(): Promise<void> {
    await query(this.url, 'CHECKPOINT');
  }

  private async select(condition: string): Promise<Pet[]> {
    type Row = Pick<Pet, 'name' | 'status'> & Readonly<Record<'id' | 'categoryId', string>>;
    const rows = await query<Row>(this.url, `SELECT id, name, category_id AS "categoryId", status FROM pets.pets ${condition}`);
    return rows.map((row) => ({ ...row, id: Number(row.id), categoryId: Number(row.categoryId) }));
  }
}
