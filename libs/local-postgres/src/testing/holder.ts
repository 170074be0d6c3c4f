import { startLocalPostgres } from '../local-postgres.js';

// A service that integration specs kill: holds the folder given, tells the URL, and outlives Ctrl-C.
process.on('SIGINT', () => undefined);
const [dataDir = ''] = process.argv.slice(2);
const { url } = await startLocalPostgres({ dataDir, announce: () => `the holder (process ${process.pid})` });
console.log(url);
setInterval(() => undefined, 60_000);
