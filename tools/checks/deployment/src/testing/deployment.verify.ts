import { spawnSync } from 'node:child_process';

import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { CHART, readRuleFile, RULE_FILES, WORKSPACE } from './files.js';

// `npm run verify -- deployment`: not part of `npm test`, because neither Helm nor Prometheus is on npm.

const HELM = process.env['HELM'] ?? 'helm';

interface Container {
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: object;
}

interface Pod {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: object;
  readonly volumes: readonly object[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly [Container];
}

/** The parts of the specifications of all kinds that the tests read. */
interface Spec {
  readonly template: { readonly metadata: { readonly labels: object }; readonly spec: Pod };
  readonly selector: object & { readonly matchLabels: object };
  readonly podSelector: { readonly matchLabels: object };
  readonly egress: object;
  readonly type: string;
  readonly ports: readonly [{ readonly name: string }];
  readonly maxReplicas: number;
  readonly postgresql: { readonly synchronous: object; readonly parameters: Readonly<Record<string, string>> };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>>; readonly labels?: object };
  readonly spec: Spec;
  readonly data: Readonly<Record<string, string>>;
}

function run(program: string, ...args: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: CHART, encoding: 'utf8' });
  if (error) throw new Error(`${program} is missing. Install Helm 3.10 or newer (or set HELM), and Debian's package prometheus.`);
  if (status !== 0) throw new Error(stdout + stderr);
  return stdout;
}

const DATABASE = 'secrets.database.name=database';
const PRODUCTION = ['--values', 'values-production.yaml'];
const set = (...values: readonly string[]) => ['--set', [DATABASE, ...values].join()];

/** Renders the chart as `helm install` does. */
function render(args: readonly string[]): readonly Manifest[] {
  const text = run(HELM, 'template', 'animal-store', '.', '--kube-version', '1.34.0', ...args);
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

const find = (manifests: readonly Manifest[], kind: string, name = ''): Manifest | undefined =>
  manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name.endsWith(name));

function get(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = find(manifests, kind, name);
  if (!found) throw new Error(`There is no ${kind}.`);
  return found;
}

/** The specification of the pods of the service, or of the migrations. */
const podOf = (manifests: readonly Manifest[], kind = 'Deployment') => get(manifests, kind).spec.template.spec;
const containersOf = (manifests: readonly Manifest[]) => [
  ...(podOf(manifests, 'Job').initContainers ?? []),
  ...podOf(manifests, 'Job').containers,
];

describe('the chart', () => {
  it.each([
    ['the defaults', set()],
    ['values-staging.yaml', ['--values', 'values-staging.yaml']],
    ['values-production.yaml', PRODUCTION],
    ['values-managed-postgresql.yaml', [...PRODUCTION, '--values', 'values-managed-postgresql.yaml']],
    ['values-openshift.yaml', [...set(), '--values', 'values-openshift.yaml']],
    ['a parent chart', set('enabled=true', 'global.any=value')],
  ])('helm lint accepts %s', (_name, args) => {
    expect(() => run(HELM, 'lint', '.', '--strict', '--kube-version', '1.34.0', ...args)).not.toThrow();
  });

  it.each([
    ['an unknown value', set('replica=2'), "additional properties 'replica'"],
    ['two instances of PostgreSQL', set('postgres.instances=2'), 'instances'],
    ['no database', ['--set', 'replicas=1'], 'secrets.database.name is required'],
    ['replicas with Citus', set('secrets.databaseReplicas.name=any', 'citus.enabled=true'), 'cannot be used with citus.enabled'],
  ])('rejects %s', (_name, args, message) => {
    expect(() => render(args)).toThrow(message);
  });

  it('runs migrations before the pods, with their own account and network policy, which Helm removes after the Job', () => {
    const manifests = render(set());
    expect(get(manifests, 'Job').metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    for (const kind of ['ServiceAccount', 'NetworkPolicy']) {
      expect(get(manifests, kind, '-migrations').metadata.annotations).toEqual({
        'helm.sh/hook': 'pre-install,pre-upgrade',
        'helm.sh/hook-weight': '-1',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      });
    }
    expect(podOf(manifests, 'Job').serviceAccountName).toBe('animal-store-migrations');
    const { egress, podSelector } = get(manifests, 'NetworkPolicy', '-migrations').spec;
    expect(egress).toEqual(get(manifests, 'NetworkPolicy', 'store').spec.egress);
    expect(get(manifests, 'Job').spec.template.metadata.labels).toMatchObject(podSelector.matchLabels);
  });

  it('runs migrations and grants as the owner, after the installation of its PostgreSQL', () => {
    const manifests = render(PRODUCTION);
    expect(get(manifests, 'Job').metadata.annotations).toMatchObject({ 'helm.sh/hook': 'post-install,pre-upgrade' });
    const secret = { name: 'animal-store-postgres-app', items: [{ key: 'uri', path: 'migration-database-url' }] };
    expect(podOf(manifests, 'Job').volumes).toMatchObject([{ projected: { sources: [{ secret }] } }]);
    expect(containersOf(manifests).map(({ command }) => command?.join(' '))).toEqual([
      'animal-store migrate up',
      'animal-store grants service animal_store_service --apply',
      'animal-store grants keys animal_store_keys --apply',
    ]);
  });

  it.each(['file', 'env'])('passes URLs in each %s, never as arguments', (as) => {
    const manifests = render(set(`secrets.as=${as}`, 'secrets.redis.name=redis', 'migrations.enabled=false'));
    const [{ env, command }] = podOf(manifests).containers;
    const names = env.map(({ name }) => name);
    const suffix = as === 'file' ? '_FILE' : '';
    for (const name of ['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL']) expect(names).toContain(name + suffix);
    expect(env).toContainEqual({ name: 'MIGRATE_ON_START', value: 'true' });
    expect([command, find(manifests, 'Job')]).toEqual([undefined, undefined]);
  });

  it('gives a pod the time to stop that its settings need', () => {
    expect(podOf(render(set())).terminationGracePeriodSeconds).toBe(35);
    expect(podOf(render(set('config.DRAIN_SECONDS=60', 'preStopSeconds=10'))).terminationGracePeriodSeconds).toBe(95);
  });

  it.each(['Deployment', 'Job'])('the containers of the %s have no privileges', (kind) => {
    const { automountServiceAccountToken, securityContext, initContainers = [], containers } = podOf(render(PRODUCTION), kind);
    expect(automountServiceAccountToken).toBe(false);
    expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of [...initContainers, ...containers]) {
      const limits = { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
      expect(container.securityContext).toEqual(limits);
    }
  });

  it('publishes only the API, and selects the pods of the service', () => {
    const manifests = render(set());
    const { labels } = get(manifests, 'Deployment').spec.template.metadata;
    const services = manifests.filter(({ kind }) => kind === 'Service').map(({ spec }) => spec);
    expect(services.map(({ type, ports }) => [type, ports[0].name])).toEqual([
      ['ClusterIP', 'http'],
      ['ClusterIP', 'metrics'],
    ]);
    const selectors = ['PodDisruptionBudget', 'Deployment'].map((kind) => get(manifests, kind).spec.selector.matchLabels);
    for (const selector of [...services.map((service) => service.selector), ...selectors]) expect(labels).toMatchObject(selector);
  });

  it('leaves the number of pods to the autoscaler', () => {
    const manifests = render(PRODUCTION);
    expect(get(manifests, 'HorizontalPodAutoscaler').spec).toMatchObject({ minReplicas: 6, maxReplicas: 20 });
    expect(get(manifests, 'Deployment').spec).not.toHaveProperty('replicas');
  });

  it('PostgreSQL has enough connections for twice the pods, commits on two instances, and is kept by helm uninstall', () => {
    const manifests = render(PRODUCTION);
    const cluster = get(manifests, 'Cluster');
    const { DATABASE_POOL_SIZE } = get(manifests, 'ConfigMap', 'store').data;
    expect(cluster.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(cluster.spec.postgresql.synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true });
    expect(Number(cluster.spec.postgresql.parameters.max_connections)).toBeGreaterThan(
      2 * get(manifests, 'HorizontalPodAutoscaler').spec.maxReplicas * Number(DATABASE_POOL_SIZE),
    );
    const policy = JSON.stringify(find(manifests, 'NetworkPolicy', '-postgres'));
    for (const peer of ['"app.kubernetes.io/instance":"animal-store"', 'cnpg-system']) expect(policy).toContain(peer);
  });

  it('a managed PostgreSQL replaces that of the chart', () => {
    const manifests = render([...PRODUCTION, '--values', 'values-managed-postgresql.yaml']);
    for (const kind of ['Cluster', 'ScheduledBackup', 'PodMonitor']) expect(find(manifests, kind)).toBeUndefined();
    expect(podOf(manifests).volumes).toContainEqual({ name: 'database-ca', configMap: { name: 'animal-store-database-ca' } });
  });

  it('the rules are those of the files, with the number of instances', () => {
    const rules = (...args: readonly string[]) => render([...PRODUCTION, ...args]).filter(({ kind }) => kind === 'PrometheusRule');
    expect(rules().map(({ spec }) => spec)).toEqual(RULE_FILES.map((file) => readRuleFile(file)));
    expect(JSON.stringify(rules('--set', 'postgres.instances=5'))).toContain(') < 5 - 1');
  });

  it('merges podSpec, containerSpec and overrides: a value replaces, null removes, and 0 is a value', () => {
    const manifests = render([
      ...set('commonLabels.team=store', 'podSpec.hostNetwork=true', 'podSpec.enableServiceLinks=null', 'containerSpec.tty=true'),
      ...['--set', 'overrides.podDisruptionBudget.spec.maxUnavailable=null,overrides.podDisruptionBudget.spec.minAvailable=0'],
    ]);
    for (const kind of ['Deployment', 'Job']) {
      expect(podOf(manifests, kind)).toMatchObject({ hostNetwork: true });
      expect(podOf(manifests, kind)).not.toHaveProperty('enableServiceLinks');
      expect(get(manifests, kind).metadata.labels).toMatchObject({ team: 'store' });
    }
    expect(podOf(manifests).containers[0]).toMatchObject({ tty: true });
    expect(get(manifests, 'PodDisruptionBudget').spec).toMatchObject({ minAvailable: 0 });
    expect(get(manifests, 'PodDisruptionBudget').spec).not.toHaveProperty('maxUnavailable');
  });

  it('renders additional objects with their templates', () => {
    const object = 'extraObjects[0].kind=HTTPRoute,extraObjects[0].metadata.name=\\{\\{ .Release.Name \\}\\}';
    expect(find(render(set(object)), 'HTTPRoute')?.metadata.name).toBe('animal-store');
  });
});

describe('the rules', () => {
  it('promtool accepts them and the configuration of Docker Compose', () => {
    expect(() =>
      run('promtool', 'check', 'rules', '--lint=all', '--lint-fatal', ...RULE_FILES.map((file) => `prometheus/${file}`)),
    ).not.toThrow();
    expect(() => run('promtool', 'check', 'config', '--syntax-only', join(WORKSPACE, 'deploy/compose/prometheus.yml'))).not.toThrow();
  });

  it.each(RULE_FILES)(
    'the unit tests of %s pass',
    (file) => {
      expect(() => run('promtool', 'test', 'rules', `prometheus/${file.replace('.yml', '.test.yml')}`)).not.toThrow();
    },
    300_000,
  );
});
