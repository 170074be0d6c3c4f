import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { query, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { CHART, RULE_FILES, WORKSPACE } from './files.js';

// `npm run verify -- kubernetes`: the chart on a cluster that may be broken, with Helm, kubectl and Debian's package prometheus. The cluster
// has two nodes with zones, and the CRDs of the Prometheus operator, the Gateway API and CloudNativePG.

jest.setTimeout(900_000);

const { KUBECONFIG, IMAGE = '', POSTGRES_URL = '' } = process.env;
const NAMESPACE = `animal-store-${randomBytes(3).toString('hex')}`;
const RELEASE = ['animal-store', '.', '--namespace', NAMESPACE];
const PRODUCTION = ['--values', 'values-production.yaml'];
const MANAGED = [...PRODUCTION, '--values', 'values-managed-postgresql.yaml'];

interface Manifest {
  readonly kind: string;
}

function run(program: string, args: readonly string[], input = ''): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: CHART, encoding: 'utf8', input });
  if (error) throw new Error(`${program} is missing. Install Helm 3.10 or newer, kubectl, and Debian's package prometheus.`);
  if (status !== 0) throw new Error(stdout + stderr);
  return stdout;
}

const kubectl = (args: readonly string[], input?: string) =>
  run('kubectl', ['--namespace', NAMESPACE, '--warnings-as-errors', ...args], input);
const [repository = '', tag = ''] = IMAGE.split(/:(?=[^:/]+$)/);

/** Renders the chart as `helm install` does. */
function render(args: readonly string[]): readonly Manifest[] {
  const text = run('helm', ['template', ...RELEASE, '--kube-version', '1.34.0', '--set', 'secrets.database.name=database', ...args]);
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

const find = (manifests: readonly Manifest[], kind: string) => manifests.find((manifest) => manifest.kind === kind);
const withPod = (pod: object) => ({ spec: { template: { spec: pod } } });

it.each([
  ['no database', 'secrets.database.name=', 'secrets.database.name is required'],
  ['a secret of no context', 'secrets.contexts.UNKNOWN.name=any', 'UNKNOWN'],
  ['replicas with Citus', 'secrets.databaseReplicas.name=any,citus.enabled=true', 'cannot be used with citus.enabled'],
])('rejects %s', (_name, value, message) => {
  expect(() => render(['--set', value])).toThrow(message);
});

it('passes secrets of contexts to the pods, but not to the migrations', () => {
  const given = 'secrets.contexts.PAYMENTS_KEY.name=payments,secrets.contexts.PAYMENTS_KEY.key=api-key';
  // The schema only has the secrets of this workspace's contexts.
  const manifests = render(['--set', given, '--skip-schema-validation']);
  const variable = { name: 'PAYMENTS_KEY_FILE', value: '/etc/animal-store/secrets/payments-key' };
  expect(find(manifests, 'Deployment')).toMatchObject(withPod({ containers: [{ env: expect.arrayContaining([variable]) }] }));
  expect(JSON.stringify(find(manifests, 'Job'))).not.toContain('PAYMENTS_KEY');
});

it('merges podSpec, containerSpec and overrides: a value replaces, null removes, and 0 is a value', () => {
  const manifests = render([
    ...['--set', 'commonLabels.team=store,podSpec.hostNetwork=true,podSpec.enableServiceLinks=null,containerSpec.tty=true'],
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
  expect(() => run('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', ...files])).not.toThrow();
  expect(() => run('promtool', ['check', 'config', '--syntax-only', join(WORKSPACE, 'deploy/compose/prometheus.yml')])).not.toThrow();
});

it.each(RULE_FILES)('the unit tests of %s pass', (file) => {
  expect(() => run('promtool', ['test', 'rules', `prometheus/${file.replace('.yml', '.test.yml')}`])).not.toThrow();
});

describe('on a cluster', () => {
  const { host, port } = new URL(POSTGRES_URL || 'postgres://unset');
  const database = NAMESPACE.replaceAll('-', '_');
  const urlOf = (role: string, password = role, name = database) => `postgres://animal_store_${role}:${password}@${host}/${name}`;
  const setPassword = (role: string, password: string) => `ALTER ROLE animal_store_${role} LOGIN PASSWORD '${password}'`;
  const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`;

  const capabilities = { drop: ['ALL'] };
  const rights = { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities, seccompProfile: { type: 'RuntimeDefault' } };
  const container = (name: string, code: string) => ({ name, image: IMAGE, command: ['node', '-e', code], securityContext: rights });
  const sidecar = container('sidecar', `process.on('SIGTERM', () => process.exit()); setInterval(() => 0, 1000)`);
  const VALUES = {
    extraInitContainers: [{ ...sidecar, restartPolicy: 'Always' }],
    image: { repository, tag },
    config: { RATE_LIMIT: 0, MAX_EVENT_LOOP_LAG_MS: 60_000 },
    secrets: { redis: { name: '' } },
    resources: { requests: { cpu: '50m' } },
    autoscaling: { minReplicas: 3 },
    networkPolicy: { clients: [{ podSelector: {} }], egress: [{ ports: [{ port: 5432 }, { port: Number(port || 5432) }] }] },
  };
  const helm = (command: string, values: object = {}, timeout = '10m') =>
    run('helm', [command, ...RELEASE, ...MANAGED, '--values', '-', '--timeout', timeout], JSON.stringify({ ...VALUES, ...values }));
  const apply = (...items: readonly object[]) =>
    kubectl(['apply', '--filename', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const secret = (name: string, url: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { url } });
  /** Returns a field of each object. */
  const fields = (kinds: string, path: string, component = '') => {
    const selector = component && `app.kubernetes.io/component=${component}`;
    return kubectl(['get', kinds, '--selector', selector, '--output', `jsonpath={.items[*].${path}}`]).split(' ');
  };
  const first = (path: string) => fields('pods', path, 'api')[0] ?? '';
  const drain = (node: string) =>
    kubectl(['drain', node, '--ignore-daemonsets', '--pod-selector', 'app.kubernetes.io/component=api', '--timeout', '5m']);
  const uids = () => fields('pods', 'metadata.uid', 'api').sort();
  const restarts = () => fields('pods', 'status.containerStatuses[*].restartCount', 'api').map(Number);
  /** Waits until three pods exist and all are ready, or not ready. */
  const settle = (isReady = true) => {
    const expected = Array.from({ length: 3 }, () => String(isReady));
    const assertion = () => expect(fields('pods', 'status.containerStatuses[*].ready', 'api')).toEqual(expected);
    return waitFor(assertion, { timeoutMs: 300_000, intervalMs: 500 });
  };
  const seconds = (start: number) => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const load = () => JSON.parse(kubectl(['logs', 'load', '--tail', '1'])) as { succeeded: number; failed: number; failure: string };
  const continues = async () => {
    const { succeeded } = load();
    await waitFor(() => expect(load().succeeded).toBeGreaterThan(succeeded + 100), { timeoutMs: 300_000, intervalMs: 500 });
  };
  /** Returns the last failure from the beginning of the action until the load continues. */
  async function failureDuring(action: () => unknown): Promise<string> {
    const { failed } = load();
    await action();
    await continues();
    const after = load();
    return after.failed === failed ? 'none' : after.failure;
  }

  beforeAll(async () => {
    if (!KUBECONFIG || !IMAGE || !POSTGRES_URL)
      throw new Error('Set KUBECONFIG, IMAGE (with a tag), and POSTGRES_URL (an administrator of a server that pods can reach).');
    const create = (role: string) => `DO $$ BEGIN CREATE ROLE animal_store_${role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`;
    for (const role of ['owner', 'service', 'keys']) await query(POSTGRES_URL, create(role), setPassword(role, role));
    await query(POSTGRES_URL, `CREATE DATABASE ${database} OWNER animal_store_owner`);
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' };
    const hard = { 'requests.cpu': '4', 'requests.memory': '4Gi', 'limits.cpu': '20', 'limits.memory': '8Gi', pods: '20' };
    const limits = [{ type: 'Container', default: { cpu: '1', memory: '512Mi' }, defaultRequest: { cpu: '50m' } }];
    apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } });
    apply(
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'quota' }, spec: { hard } },
      { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits' }, spec: { limits } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'animal-store-database-ca' }, data: { 'ca.pem': '' } },
      secret('animal-store-owner-url', urlOf('owner')),
      secret('animal-store-service-url', urlOf('service')),
      secret('missing-database', urlOf('owner', 'owner', 'missing')),
    );
  });

  afterAll(async () => {
    kubectl(['delete', 'namespace', NAMESPACE, '--wait=false']);
    await query(POSTGRES_URL, `DROP DATABASE ${database} WITH (FORCE)`);
  });

  it.each([
    ['values-staging.yaml', ['--values', 'values-staging.yaml']],
    ['values-production.yaml', PRODUCTION],
    ['values-managed-postgresql.yaml', MANAGED],
    ['values-openshift.yaml', ['--values', 'values-openshift.yaml', '--set', 'secrets.database.name=any']],
  ])('the API server accepts the objects of %s', (_file, args) => {
    const manifests = run('helm', ['template', ...RELEASE, ...args]);
    expect(() => kubectl(['apply', '--dry-run=server', '--filename', '-'], manifests)).not.toThrow();
  });

  it('installs the migrations, then the pods, in a restricted namespace with limits', async () => {
    const start = performance.now();
    helm('install');
    await settle();
    console.log(`3 pods are ready ${seconds(start)} after the beginning of helm install`);
    const [migrated = ''] = fields('jobs', 'status.completionTime');
    const [deployed = ''] = fields('deployments', 'metadata.creationTimestamp');
    expect(migrated <= deployed).toBe(true);
    expect(fields('jobs,deployments', 'spec.template.spec.initContainers[0].name')).toEqual(['sidecar', 'sidecar']);
    expect(fields('serviceaccounts,networkpolicies', 'metadata.name')).toEqual(['animal-store', 'default', 'animal-store']);
  });

  it('the command of the documents creates the first key, with which requests succeed', async () => {
    const script =
      'unset DATABASE_URL_FILE MIGRATION_DATABASE_URL_FILE; export OPERATOR=alice DATABASE_URL=$(cat); animal-store keys create --client my-app --if-none --scope pets:read,pets:write --expires-in 90d';
    const [key = ''] = /ast_\w+/.exec(kubectl(['exec', '--stdin', 'deploy/animal-store', '--', 'sh', '-c', script], urlOf('keys'))) ?? [];
    const code = `
      const url = 'http://' + process.env.ANIMAL_STORE_SERVICE_HOST + '/v1/pets';
      const count = { succeeded: 0, failed: 0, failure: '' };
      async function send() {
        const headers = { authorization: 'Bearer ${key}', 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
        const response = await fetch(url, { method: 'POST', headers, body: '{"name":"Rex","categoryId":7}' });
        const text = await response.text();
        if (response.status !== 201) throw new Error(text);
      }
      setInterval(() => send().then(() => count.succeeded++, (error) => {
        count.failed++;
        count.failure = new Date().toISOString() + ' ' + error.message + ' ' + error.cause;
      }), 25);
      setInterval(() => console.log(JSON.stringify(count)), 250);`;
    apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'load' }, spec: { containers: [container('load', code)] } });
    kubectl(['wait', '--for=condition=Ready', 'pod/load', '--timeout', '5m']);
    await waitFor(() => expect(load().succeeded).toBeGreaterThan(0));
  });

  it('an upgrade without changes changes nothing, and a GitOps tool sees no drift', () => {
    const state = () => [
      uids(),
      fields('deployments,poddisruptionbudgets', 'metadata.generation'),
      fields('configmaps,services', 'metadata.uid'),
    ];
    const before = state();
    helm('upgrade');
    expect(state()).toEqual(before);
    const manifest = run('helm', ['get', 'manifest', 'animal-store', '--namespace', NAMESPACE]);
    expect(kubectl(['diff', '--server-side', '--force-conflicts', '--field-manager', 'gitops', '--filename', '-'], manifest)).toBe('');
  });

  it.each<readonly [string, () => unknown]>([
    ['a rolling update', () => helm('upgrade', { secrets: { ...VALUES.secrets, as: 'env' } })],
    ['a rollback', () => run('helm', ['rollback', 'animal-store', '1', '--namespace', NAMESPACE])],
    ['the end of a pod', () => kubectl(['delete', 'pod', first('metadata.name')])],
    ['the drain of a node', () => drain(first('spec.nodeName'))],
  ])('no request fails during %s', async (_what, action) => {
    const before = uids();
    const rollOut = () => {
      action();
      kubectl(['rollout', 'status', 'deployment/animal-store', '--timeout', '10m']);
      return settle();
    };
    expect(await failureDuring(rollOut)).toBe('none');
    expect(uids()).not.toEqual(before);
    kubectl(['uncordon', '--selector', 'kubernetes.io/os=linux']);
  });

  it('pods read a new password from the Secret without a restart', async () => {
    const before = uids();
    const start = performance.now();
    await query(POSTGRES_URL, setPassword('service', 'new'), terminate);
    apply(secret('animal-store-service-url', urlOf('service', 'new')));
    await continues();
    await settle();
    console.log(`the new password is in use after ${seconds(start)}`);
    expect([uids(), restarts()]).toEqual([before, [0, 0, 0]]);
  });

  it('if an image does not exist or a migration fails, the pods continue, and the error is visible', async () => {
    const before = uids();
    const upgrade = () => {
      expect(() => helm('upgrade', { image: { repository, tag: 'missing' } }, '30s')).toThrow('pre-upgrade');
      expect(fields('pods', 'status.initContainerStatuses[*].state.waiting.reason', 'migrations').join()).toMatch(
        /ErrImagePull|ImagePullBackOff/,
      );
      const secrets = { ...VALUES.secrets, migrationDatabase: { name: 'missing-database' } };
      expect(() => helm('upgrade', { secrets, migrations: { backoffLimit: 0 } })).toThrow('pre-upgrade');
      const job = fields('jobs', 'metadata.name').at(-1) ?? '';
      expect(kubectl(['logs', `job/${job}`, '--container', 'migrate'])).toContain('database "missing" does not exist');
    };
    expect(await failureDuring(upgrade)).toBe('none');
    expect(uids()).toEqual(before);
  });

  it('all pods are ready again after the kill of one and after the loss of PostgreSQL, without a restart', async () => {
    kubectl(['delete', 'pod', first('metadata.name'), '--grace-period', '0', '--force', '--warnings-as-errors=false']);
    await settle();
    await query(POSTGRES_URL, `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`, terminate);
    await settle(false);
    const start = performance.now();
    await query(POSTGRES_URL, `ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await settle();
    console.log(`3 pods are ready ${seconds(start)} after the return of PostgreSQL`);
    await continues();
    expect(restarts()).toEqual([0, 0, 0]);
  });

  it('helm uninstall leaves only the Jobs of the migrations', async () => {
    run('helm', ['uninstall', 'animal-store', '--namespace', NAMESPACE]);
    const kinds = kubectl(['api-resources', '--namespaced', '--verbs=list', '--output', 'name']).trim().replaceAll('\n', ',');
    const ofRelease = ['--selector', 'app.kubernetes.io/instance=animal-store', '--warnings-as-errors=false', '--output', 'name'];
    const others = /^(?!(?:job\.batch|pod)\/animal-store-migrations-)./m;
    await waitFor(() => expect(kubectl(['get', kinds, ...ofRelease])).not.toMatch(others), { timeoutMs: 120_000 });
  });
});
