import { resolve } from 'node:path';
import { Command } from 'commander';
import { parseInteger } from '../options.js';
import { Cluster } from './cluster.js';
import { findPrograms } from './debian.js';
import { describeStatus } from './status.js';

const program = new Command('cluster').description(
  'Runs the service on highly available PostgreSQL, from Debian packages, on this machine.',
);
program.option('--folder <path>', 'folder for all files of the cluster', '.data/cluster');

const folder = () => resolve(program.opts<{ folder: string }>().folder);

async function openExisting(): Promise<Cluster> {
  const cluster = await Cluster.open(folder());
  if (!cluster) throw new Error(`There is no cluster in ${folder()}. Start it with: npm run cluster -- up`);
  return cluster;
}

program
  .command('up')
  .description('starts all processes and waits until the service is ready')
  .option('--port <number>', 'first of the 34 ports of a new cluster', parseInteger(1_024, 65_000), 17_000)
  .action(async (options: { port: number }) => {
    findPrograms();
    const cluster = await Cluster.create(folder(), options.port);
    await cluster.up();
    console.log(await describeStatus(cluster));
  });

program
  .command('status')
  .description('shows processes, servers, ports and an example request')
  .action(async () => console.log(await describeStatus(await openExisting())));

program
  .command('down')
  .description('stops all processes; the data stays in the folder')
  .action(async () => (await openExisting()).down());

try {
  await program.parseAsync();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
