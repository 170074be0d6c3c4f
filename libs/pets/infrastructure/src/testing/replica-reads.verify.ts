import { DurablePostgres } from '@animal-store/local-postgres/testing';
import { describe } from '@jest/globals';
import { describeHistories, type Servers } from './describe-histories.js';
import { findOutdatedRead } from './history.js';

/** Delay with which the replica replays each commit. */
const REPLAY_DELAY = '20ms';

async function primaryAndReplica(): Promise<Servers> {
  const primary = await DurablePostgres.start();
  const standby = await primary.addStandby([`recovery_min_apply_delay=${REPLAY_DELAY}`]);
  const remove = async () => {
    await standby.remove();
    await primary.remove();
  };
  return { url: primary.url, replicaUrls: [standby.url], remove };
}

// A primary may show commits later, and in another order, than replicas that replay its WAL ("long fork"):
// https://jepsen.io/analyses/amazon-rds-for-postgresql-17.4
describe('concurrent creations and reads, from two processes on a primary and a replica that lags, are up to date', () => {
  describeHistories(primaryAndReplica, findOutdatedRead);
});
