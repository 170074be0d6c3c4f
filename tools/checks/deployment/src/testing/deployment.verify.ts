import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { CHART, RULE_FILES, WORKSPACE } from './files.js';

// `npm run verify -- deployment`: not part of `npm test`, because neither Helm nor Prometheus is on npm.

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

function run(program: string, ...args: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: CHART, encoding: 'utf8' });
  if (error) throw new Error(`${program} is missing. Install Helm 3.10 or newer (or set HELM), and Debian's package prometheus.`);
  if (status !== 0) throw new Error(stdout + stderr);
  return stdout;
}

const helm = (...args: readonly string[]) => run(process.env['HELM'] ?? 'helm', ...args, '--kube-version', '1.34.0');

const PRODUCTION = ['--values', 'values-production.yaml'];
const set = (...values: readonly string[]) => ['--set', ['secrets.database.name=database', ...values].join()];

/** Renders the chart as `helm install` does. */
function render(args: readonly string[]): readonly Manifest[] {
  return parseAllDocuments(helm('template', 'animal-store', '.', ...args)).flatMap(
    (document) => (document.toJS() as Manifest | null) ?? [],
  );
}

const find = (manifests: readonly Manifest[], kind: string, name = '') =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(name));

const withPod = (pod: object) => ({ spec: { template: { spec: pod } } });

it.each([
  ['the defaults', set()],
  ['values-staging.yaml', ['--values', 'values-staging.yaml']],
  ['values-production.yaml', PRODUCTION],
  ['values-managed-postgresql.yaml', [...PRODUCTION, '--values', 'values-managed-postgresql.yaml']],
  ['values-openshift.yaml', [...set(), '--values', 'values-openshift.yaml']],
  ['a parent chart', set('enabled=true', 'global.any=value')],
])('helm lint accepts %s', (_name, args) => {
  expect(() => helm('lint', '.', '--strict', ...args)).not.toThrow();
});

it.each([
  ['an unknown value', set('replica=2'), "additional properties 'replica'"],
  ['two instances of PostgreSQL', set('postgres.instances=2'), 'instances'],
  ['no database', ['--set', 'replicas=1'], 'secrets.database.name is required'],
  ['a secret of no context', set('secrets.contexts.UNKNOWN.name=any'), 'UNKNOWN'],
  ['replicas with Citus', set('secrets.databaseReplicas.name=any', 'citus.enabled=true'), 'cannot be used with citus.enabled'],
])('rejects %s', (_name, args, message) => {
  expect(() => render(args)).toThrow(message);
});

it.each([
  ['file', { name: 'PAYMENTS_KEY_FILE', value: '/etc/animal-store/secrets/payments-key' }],
  ['env', { name: 'PAYMENTS_KEY', valueFrom: { secretKeyRef: { name: 'payments', key: 'api-key' } } }],
])('passes secrets of contexts to the pods, but not to the migrations, as %s', (as, variable) => {
  const given = set(`secrets.as=${as}`, 'secrets.contexts.PAYMENTS_KEY.name=payments,secrets.contexts.PAYMENTS_KEY.key=api-key');
  // The schema only has the secrets of this workspace's contexts.
  const manifests = render([...given, '--skip-schema-validation']);
  expect(find(manifests, 'Deployment')).toMatchObject(withPod({ containers: [{ env: expect.arrayContaining([variable]) }] }));
  expect(JSON.stringify(find(manifests, 'Job'))).not.toContain('PAYMENTS_KEY');
});

it('runs migrations before the pods, with their own account and network policy, which Helm removes after the Job', () => {
  const manifests = render(set());
  const hook = { 'helm.sh/hook': 'pre-install,pre-upgrade' };
  const labels = { 'app.kubernetes.io/component': 'migrations' };
  expect(find(manifests, 'Job')).toMatchObject({
    metadata: { annotations: hook },
    ...{ spec: { template: { metadata: { labels }, spec: { serviceAccountName: 'animal-store-migrations' } } } },
  });
  const annotations = { ...hook, 'helm.sh/hook-weight': '-1', 'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded' };
  expect(find(manifests, 'ServiceAccount', '-migrations')).toMatchObject({ metadata: { annotations } });
  const { egress } = (find(manifests, 'NetworkPolicy', 'store') as Manifest & { spec: { egress: object } }).spec;
  expect(find(manifests, 'NetworkPolicy', '-migrations')).toMatchObject({
    metadata: { annotations },
    spec: { podSelector: { matchLabels: labels }, egress },
  });
});

it('runs migrations and grants as the owner, after the installation of its PostgreSQL', () => {
  const secret = { name: 'animal-store-postgres-app', items: [{ key: 'uri', path: 'migration-database-url' }] };
  expect(find(render(PRODUCTION), 'Job')).toMatchObject({
    metadata: { annotations: { 'helm.sh/hook': 'post-install,pre-upgrade' } },
    ...withPod({
      volumes: [{ projected: { sources: [{ secret }] } }],
      initContainers: [
        { command: ['animal-store', 'migrate', 'up'] },
        { command: ['animal-store', 'grants', 'service', 'animal_store_service', '--apply'] },
      ],
      containers: [{ command: ['animal-store', 'grants', 'keys', 'animal_store_keys', '--apply'] }],
    }),
  });
});

it.each([
  ['file', '_FILE'],
  ['env', ''],
])('passes URLs in each %s', (as, suffix) => {
  const manifests = render(set(`secrets.as=${as}`, 'secrets.redis.name=redis', 'migrations.enabled=false'));
  const names = ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL'].map((name): unknown =>
    expect.objectContaining({ name: name + suffix }),
  );
  const env = expect.arrayContaining([...names, { name: 'MIGRATE_ON_START', value: 'true' }]) as unknown;
  expect(find(manifests, 'Deployment')).toMatchObject(withPod({ containers: [{ env }] }));
  expect(find(manifests, 'Job')).toBeUndefined();
});

it('gives a pod the time to stop that its settings need', () => {
  const changed = render(set('config.DRAIN_SECONDS=60', 'preStopSeconds=10'));
  expect(find(changed, 'Deployment')).toMatchObject(withPod({ terminationGracePeriodSeconds: 95 }));
});

it.each(['Deployment', 'Job'])('the containers of the %s have no privileges', (kind) => {
  const securityContext = { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const pod = { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, runAsUser: 1000 } };
  expect(find(render(set()), kind)).toMatchObject(withPod({ ...pod, containers: [{ securityContext }] }));
});

it('publishes only the API', () => {
  const services = render(set()).filter(({ kind }) => kind === 'Service');
  expect(services).toMatchObject([
    { spec: { type: 'ClusterIP', ports: [{ name: 'http' }] } },
    { spec: { type: 'ClusterIP', ports: [{ name: 'metrics' }] } },
  ]);
});

it('PostgreSQL commits on two instances, is kept by helm uninstall, and has enough connections for twice the pods', () => {
  const manifests = render(PRODUCTION);
  expect(find(manifests, 'Cluster')).toMatchObject({
    metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } },
    spec: {
      postgresql: {
        synchronous: { method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true },
        parameters: { max_connections: '400' },
      },
    },
  });
  expect(find(manifests, 'ConfigMap', 'store')).toMatchObject({ data: { DATABASE_POOL_SIZE: '8' } });
  expect(find(manifests, 'HorizontalPodAutoscaler')).toMatchObject({ spec: { minReplicas: 6, maxReplicas: 20 } });
  expect(find(manifests, 'Deployment')).not.toHaveProperty('spec.replicas');
});

it('a managed PostgreSQL replaces that of the chart', () => {
  const manifests = render([...PRODUCTION, '--values', 'values-managed-postgresql.yaml']);
  for (const kind of ['Cluster', 'ScheduledBackup', 'PodMonitor']) expect(find(manifests, kind)).toBeUndefined();
});

it('the rules expect the number of instances', () => {
  expect(JSON.stringify(render([...PRODUCTION, '--set', 'postgres.instances=5']))).toContain(') < 5 - 1');
});

it('merges podSpec, containerSpec and overrides: a value replaces, null removes, and 0 is a value', () => {
  const manifests = render([
    ...set('commonLabels.team=store', 'podSpec.hostNetwork=true', 'podSpec.enableServiceLinks=null', 'containerSpec.tty=true'),
    ...['--set', 'overrides.podDisruptionBudget.spec.maxUnavailable=null,overrides.podDisruptionBudget.spec.minAvailable=0'],
  ]);
  for (const kind of ['Deployment', 'Job']) {
    expect(find(manifests, kind)).toMatchObject({ metadata: { labels: { team: 'store' } }, ...withPod({ hostNetwork: true }) });
    expect(find(manifests, kind)).not.toHaveProperty('spec.template.spec.enableServiceLinks');
  }
  expect(find(manifests, 'Deployment')).toMatchObject(withPod({ containers: [{ tty: true }] }));
  expect(find(manifests, 'PodDisruptionBudget')).toMatchObject({ spec: { minAvailable: 0 } });
  expect(find(manifests, 'PodDisruptionBudget')).not.toHaveProperty('spec.maxUnavailable');
});

it('promtool accepts the rules and the configuration of Docker Compose', () => {
  const files = RULE_FILES.map((file) => `prometheus/${file}`);
  expect(() => run('promtool', 'check', 'rules', '--lint=all', '--lint-fatal', ...files)).not.toThrow();
  expect(() => run('promtool', 'check', 'config', '--syntax-only', join(WORKSPACE, 'deploy/compose/prometheus.yml'))).not.toThrow();
});

it.each(RULE_FILES)('the unit tests of %s pass', (file) => {
  expect(() => run('promtool', 'test', 'rules', `prometheus/${file.replace('.yml', '.test.yml')}`)).not.toThrow();
});
