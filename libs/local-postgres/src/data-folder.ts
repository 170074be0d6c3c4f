import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readdir, readFile, realpath, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import { type Cluster, createCluster, type Server, type ServerOptions, startServer, SUPERUSER } from './cluster.js';
import { ifThere } from './if-there.js';
import { stopLeftOverServer } from './left-over-server.js';
import { LocalPostgresError } from './local-postgres-error.js';
import { type Account, findRuntime } from './runtime.js';

const DATABASE = 'animal_store';
const PASSWORD_FILE = 'postgres-password';
const NO_SUCH_DATABASE = '3D000';

export interface DataFolder {
  readonly cluster: Cluster;
  readonly server: Server;
  readonly password: string;
}

/** The real path of the data folder, which is made if it is not there. */
export async function makeFolder(dataDir: string): Promise<string> {
  await mkdir(dirname(dataDir), { recursive: true });
  await mkdir(dataDir, { mode: 0o700 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  if (!(await stat(dataDir)).isDirectory()) throw new LocalPostgresError(`The data folder ${dataDir} cannot be used: it is not a folder.`);
  return realpath(dataDir);
}

/** Starts a server on the folder, whose lock the caller holds: ends what was left running, creates what is not there yet. */
export async function startInFolder(folder: string, options: ServerOptions & { durable: boolean }): Promise<DataFolder> {
  const runtime = await findRuntime(folder);
  const { account } = runtime;
  // A folder with other things in it keeps its owner and mode.
  if ((await readdir(folder)).every((name) => name === 'lock')) {
    await chmod(folder, 0o700);
    if (account) await chown(folder, account.uid, account.gid);
  }
  const cluster: Cluster = { folder: join(folder, 'postgres'), logFile: join(folder, 'postgres.log'), runtime };
  await stopLeftOverServer(cluster);
  const exists = await isCluster(cluster);
  const known = await readPassword(folder);
  const password = known ?? (await makePassword(folder, account));
  if (!exists) await createCluster(cluster, join(folder, PASSWORD_FILE), options);
  else if (!known) await setPassword(cluster, password);
  return { cluster, password, server: await startServer(cluster, options) };
}

async function isCluster({ folder, runtime }: Cluster): Promise<boolean> {
  const entries = await ifThere(readdir(folder));
  if (!entries) return false;
  if (entries.length === 0) {
    await rmdir(folder);
    return false;
  }
  if (!entries.includes('PG_VERSION')) throw new LocalPostgresError(`The folder ${folder} does not hold a PostgreSQL database.`);
  const version = (await readFile(join(folder, 'PG_VERSION'), 'utf8')).trim();
  const [major] = runtime.version.split('.');
  if (version !== major) {
    throw new LocalPostgresError(`The folder ${folder} holds a database of PostgreSQL ${version}, which PostgreSQL ${major} cannot open.`);
  }
  if (runtime.account) await giveTo(runtime.account, folder);
  return true;
}

/** After root has copied the data, say. */
async function giveTo({ uid, gid }: Account, folder: string): Promise<void> {
  if ((await stat(folder)).uid === uid) return;
  await chown(folder, uid, gid);
  for (const entry of await readdir(folder, { recursive: true })) await chown(join(folder, entry), uid, gid);
}

async function readPassword(folder: string): Promise<string | undefined> {
  const text = await ifThere(readFile(join(folder, PASSWORD_FILE), 'utf8'));
  return text?.trim() || undefined;
}

async function makePassword(folder: string, account: Account | undefined): Promise<string> {
  const password = randomBytes(24).toString('hex');
  const file = join(folder, PASSWORD_FILE);
  await writeFile(file, `${password}\n`, { mode: 0o600 });
  if (account) await chown(file, account.uid, account.gid);
  return password;
}

/** In single-user mode, which asks for no password: for a folder whose password file is lost. */
async function setPassword({ folder, runtime }: Cluster, password: string): Promise<void> {
  const child = runtime.spawn('postgres', ['--single', '-D', folder, 'postgres'], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin?.end(`ALTER ROLE ${SUPERUSER} PASSWORD '${password}'\n`);
  await once(child, 'close');
}

export function databaseUrl(port: number, password: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

/** The URL by which the running server of a folder is reached; undefined when it is not ready. */
export async function urlOfRunningServer(folder: string, port: number): Promise<string | undefined> {
  const password = await readPassword(folder);
  return password === undefined ? undefined : databaseUrl(port, password);
}

/** Makes sure that the database is there, and returns the server's version. */
export async function ensureDatabase(url: string): Promise<string> {
  try {
    return await query<string>(url, 'SHOW server_version');
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== NO_SUCH_DATABASE) {
      throw new LocalPostgresError(`PostgreSQL cannot be used: ${(error as Error).message}.`, { cause: error });
    }
    const maintenance = new URL(url);
    maintenance.pathname = '/postgres';
    await query(maintenance.href, `CREATE DATABASE ${DATABASE}`);
    return query<string>(url, 'SHOW server_version');
  }
}

async function query<T>(url: string, statement: string): Promise<T> {
  const client = new Client({ connectionString: url, ssl: false });
  await client.connect();
  try {
    const { rows } = await client.query<T[]>({ text: statement, rowMode: 'array' });
    return rows[0]?.[0] as T;
  } finally {
    await client.end();
  }
}
