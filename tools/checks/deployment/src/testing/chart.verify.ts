import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@animal-store/api/configuration';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readRuleFile, readValues } from './files.js';
import { type Container, helm, type Manifest, render, requireHelm, requireModels, schemaErrors, typeErrors } from './manifests.js';

// `npm run verify -- chart`: not part of `npm test`, since Helm is not in the npm registry for every platform.

requireHelm();
requireModels();

interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken: boolean;
  readonly securityContext: object;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
  readonly serviceAccountName: string;
  readonly imagePullSecrets?: readonly object[];
  readonly priorityClassName?: string;
  readonly nodeSelector?: object;
  readonly tolerations?: readonly object[];
  readonly affinity?: object;
}

interface Service extends Manifest {
  readonly spec: { readonly type: string; readonly ports: readonly { readonly name: string }[] };
}

interface Workload extends Manifest {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> }; readonly spec: PodSpec };
  };
}

const folder = mkdtempSync(join(tmpdir(), 'animal-store-chart-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DATABASE = ['--set', 'secrets.database.name=database'];
const MANAGED = ['--values', 'values-production.yaml', '--values', 'values-managed-postgresql.yaml'];
const CASES: Readonly<Record<string, readonly string[]>> = {
  'the default values': DATABASE,
  'values-staging.yaml': ['--values', 'values-staging.yaml'],
  'values-production.yaml': ['--values', 'values-production.yaml'],
  'values-managed-postgresql.yaml': ['--values', 'values-managed-postgresql.yaml'],
  'values-production.yaml and values-managed-postgresql.yaml': MANAGED,
  'secrets in variables, without migrations': [
    ...DATABASE,
    ...[
      '--set',
      'secrets.as=env,secrets.redis.name=redis,secrets.databaseReplicas.name=replicas,migrations.enabled=false,config.MAX_CONNECTIONS=1000000,config.WORKERS=3',
    ],
    ...['--set', 'networkPolicy.enabled=false,podDisruptionBudget.enabled=false,serviceAccount.name=other'],
  ],
  'secrets in variables, with grants': [...DATABASE, '--set', 'secrets.as=env,migrations.grants.enabled=true,citus.enabled=true'],
  'all features that are off by default': [
    ...['--values', 'values-production.yaml', '--set', 'image.digest=sha256:' + '0'.repeat(64), '--set', 'podLabels.team=store'],
    ...['--set', 'podAnnotations.note=text,nodeSelector.disk=fast,priorityClassName=high,imagePullSecrets[0].name=pull'],
    ...[
      '--set',
      'tolerations[0].operator=Exists,affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=zone,service.annotations.note=text,ingress.annotations.note=text',
    ],
    ...['--set', 'extraVolumes[0].name=ca,extraVolumes[0].secret.secretName=ca'],
    ...['--set', 'extraVolumeMounts[0].name=ca,extraVolumeMounts[0].mountPath=/etc/ca,serviceAccount.annotations.note=text'],
    ...['--set', 'monitoring.labels.release=prometheus,service.type=LoadBalancer'],
  ],
  'values-openshift.yaml': [...DATABASE, '--values', 'values-openshift.yaml'],
};
const DEMANDING_VALUES = join(import.meta.dirname, 'demanding-values.yaml');

const find = <T extends Manifest>(manifests: readonly Manifest[], kind: string) =>
  manifests.find((manifest) => manifest.kind === kind) as T;

it('helm lint reports nothing', () => {
  for (const args of Object.values(CASES)) expect(helm('lint', '.', '--strict', ...args)).toMatchObject({ status: 0 });
});

it.each([
  ['two instances of PostgreSQL', ['--set', 'postgres.instances=2'], /postgres[./]instances/],
  ['no database', ['--set', 'secrets.database.name='], 'secrets.database.name is required'],
  [
    'replicas with Citus',
    ['--set', 'secrets.databaseReplicas.name=any', '--set', 'citus.enabled=true'],
    'secrets.databaseReplicas cannot be used with citus.enabled',
  ],
])('helm rejects %s', (_what, args, message) => {
  expect(() => render(...DATABASE, ...args)).toThrow(message);
});

describe.each(Object.entries(CASES))('with %s', (_name, args) => {
  const manifests = render(...args);
  const deployment = find<Workload>(manifests, 'Deployment');
  const workloads = manifests.filter((manifest): manifest is Workload => ['Deployment', 'Job'].includes(manifest.kind));
  const pods = workloads.map((workload) => workload.spec.template.spec);
  const [api] = deployment.spec.template.spec.containers as [Container];
  const environment = (): Record<string, string> => {
    const { data } = find<Manifest & { data: Record<string, string> }>(manifests, 'ConfigMap');
    const values = (api.env ?? []).map(({ name, value }) => {
      const secret = name.startsWith('REDIS') ? 'redis://redis' : 'postgres://service@database/store';
      if (!name.endsWith('_FILE')) return [name, value ?? secret];
      writeFileSync(join(folder, name), secret);
      return [name, join(folder, name)];
    });
    return { ...data, ...(Object.fromEntries(values) as Record<string, string>) };
  };

  it('every manifest matches the JSON schema of its kind', async () => {
    const errors = await Promise.all(manifests.map(async (manifest) => [manifest.kind, ...(await schemaErrors(manifest))]));
    expect(errors.filter(({ length }) => length > 1)).toEqual([]);
  });

  it('no manifest has an unknown field', () => {
    expect(typeErrors(manifests)).toEqual([]);
  });

  it('names are unique per kind', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('the service accepts the variables', () => {
    const env = environment();
    const config = readConfig(env);
    expect(config).toMatchObject({ host: '0.0.0.0', port: 3000, adminHost: '0.0.0.0', adminPort: 9464 });
    expect(config.migrateOnStart).toBe(!manifests.some(({ kind }) => kind === 'Job'));
    if (env['MAX_CONNECTIONS'] !== undefined) expect(config.maxConnections).toBe(1_000_000);
  });

  it('the grace period of a pod is long enough for the service to stop', () => {
    const { workers, drainSeconds } = readConfig(environment());
    const { preStopSeconds } = readValues('values.yaml');
    const minimumSeconds = preStopSeconds + drainSeconds + (workers > 1 ? 30 : 20);
    expect(deployment.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(minimumSeconds);
  });

  it('containers run without privileges, and mount volumes of their pod', () => {
    for (const { initContainers = [], containers, volumes = [], ...pod } of pods) {
      const ids = args.includes('values-openshift.yaml') ? {} : { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 };
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...ids });
      for (const { securityContext, volumeMounts = [] } of [...initContainers, ...containers]) {
        expect(securityContext).toEqual({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        });
        for (const { name } of volumeMounts) expect(volumes).toContainEqual(expect.objectContaining({ name }));
      }
    }
  });

  it('selectors select the pods of the service or of PostgreSQL, or the service of metrics, and named ports exist', () => {
    const postgres = manifests.find(({ kind }) => kind === 'Cluster');
    const services = manifests.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.labels);
    for (const manifest of manifests) {
      const targets = manifest.kind === 'ServiceMonitor' ? services : [deployment.spec.template.metadata.labels];
      if (manifest.metadata.name === postgres?.metadata.name) targets.push({ 'cnpg.io/cluster': postgres.metadata.name });
      for (const selector of selectorsOf(manifest)) {
        const selected = targets.filter((labels) => Object.entries(selector).every(([name, value]) => labels?.[name] === value));
        expect([manifest.kind, selected.length]).toEqual([manifest.kind, 1]);
      }
    }
    const named = [...JSON.stringify(manifests).matchAll(/"(?:targetPort|port)":"(\w+)"/g)].map(([, port]) => port);
    expect(new Set(named)).toEqual(new Set(api.ports?.map(({ name }) => name)));
  });

  it('publishes no port but that of the API outside of the cluster', () => {
    const services = manifests.filter((manifest): manifest is Service => manifest.kind === 'Service');
    const ports = services.map(({ spec }) => [spec.type, spec.ports.map(({ name }) => name)]);
    expect(ports).toEqual([
      [args.join().includes('LoadBalancer') ? 'LoadBalancer' : 'ClusterIP', ['http']],
      ['ClusterIP', ['metrics']],
    ]);
  });

  it('the pods of migrations have the settings of the pods of the service', () => {
    const settings = pods.map(({ imagePullSecrets, priorityClassName, nodeSelector, tolerations, affinity }) => [
      ...[imagePullSecrets, priorityClassName, nodeSelector, tolerations, affinity],
    ]);
    for (const each of settings) expect(each).toEqual(settings[0]);
    for (const { initContainers = [], containers, volumes = [], serviceAccountName } of pods) {
      expect(serviceAccountName).toMatch(args.join().includes('serviceAccount.name=other') ? /^other$/ : /^animal-store(?:-migrations)?$/);
      if (!args.join().includes('extraVolumes')) continue;
      expect(volumes).toContainEqual({ name: 'ca', secret: { secretName: 'ca' } });
      for (const { env = [], volumeMounts } of [...initContainers, ...containers])
        if (env.some(({ name }) => name.includes('DATABASE_URL')))
          expect(volumeMounts).toContainEqual({ name: 'ca', mountPath: '/etc/ca' });
    }
    const [labels, ...others] = workloads.map((workload) => workload.spec.template.metadata.labels);
    for (const other of others) expect(other['team']).toBe(labels?.['team']);
  });

  it('sets no number of replicas if there is an autoscaler', () => {
    expect(deployment.spec.replicas === undefined).toBe(manifests.some(({ kind }) => kind === 'HorizontalPodAutoscaler'));
  });
});

describe('in production', () => {
  const manifests = render('--values', 'values-production.yaml');

  const rulesOf = (rendered: readonly Manifest[]) =>
    rendered.filter(({ kind }) => kind === 'PrometheusRule').map((rule) => (rule as Manifest & { spec: unknown }).spec);

  it('the rules are those of prometheus, without a cluster only those of the service', () => {
    expect(rulesOf(manifests)).toEqual([readRuleFile('rules.yml'), readRuleFile('postgres-rules.yml')]);
    expect(rulesOf(render(...DATABASE, '--set', 'monitoring.enabled=true'))).toEqual([readRuleFile('rules.yml')]);
  });

  it('the expected number of standbys follows postgres.instances', () => {
    const rendered = rulesOf(render('--values', 'values-production.yaml', '--set', 'postgres.instances=5'));
    expect(JSON.stringify(rendered)).toContain(') < 5 - 1');
  });

  it('Prometheus scrapes the port of the metrics of PostgreSQL', () => {
    expect(find(manifests, 'PodMonitor')).toMatchObject({
      spec: {
        selector: { matchLabels: { 'cnpg.io/cluster': 'animal-store-postgres' } },
        podMetricsEndpoints: [{ port: 'metrics', interval: '15s' }],
      },
    });
  });

  it('the kinds of the manifests', () => {
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      ...['Cluster', 'ConfigMap', 'ConfigMap', 'Deployment', 'HorizontalPodAutoscaler', 'Ingress', 'Job', 'NetworkPolicy', 'NetworkPolicy'],
      ...['PodDisruptionBudget', 'PodMonitor', 'PrometheusRule', 'PrometheusRule', 'ScheduledBackup', 'Service', 'Service'],
      ...['ServiceAccount', 'ServiceAccount', 'ServiceMonitor'],
    ]);
  });

  it('PostgreSQL has three instances, commits on two of them, and is kept by helm uninstall', () => {
    expect(find(manifests, 'Cluster')).toMatchObject({
      metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } },
      spec: { instances: 3, postgresql: { synchronous: { method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true } } },
    });
  });

  it('PostgreSQL has enough connections for all pods, also during a rolling update', () => {
    const { config, autoscaling, postgres } = readValues('values-production.yaml') as unknown as {
      config: Record<string, number>;
      autoscaling: { maxReplicas: number };
      postgres: { parameters: { max_connections: string } };
    };
    const podConnections = autoscaling.maxReplicas * (config['WORKERS'] ?? 1) * (config['DATABASE_POOL_SIZE'] ?? 10);
    expect(Number(postgres.parameters.max_connections)).toBeGreaterThan(2 * podConnections);
  });

  it('instances of PostgreSQL never share a node, and accept connections only from the release, each other and the operator', () => {
    expect(find(manifests, 'Cluster')).toMatchObject({
      spec: { affinity: { podAntiAffinityType: 'required', topologyKey: 'kubernetes.io/hostname' } },
    });
    const policy = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'animal-store-postgres');
    const peers = JSON.stringify(policy);
    for (const peer of ['"app.kubernetes.io/instance":"animal-store"', '"cnpg.io/cluster":"animal-store-postgres"', 'cnpg-system'])
      expect(peers).toContain(peer);
  });

  it('pods that drained nodes cannot take are not counted', () => {
    const { topologySpreadConstraints } = find<Workload>(manifests, 'Deployment').spec.template.spec as unknown as {
      topologySpreadConstraints: readonly object[];
    };
    expect(topologySpreadConstraints).toHaveLength(2);
    for (const constraint of topologySpreadConstraints)
      expect(constraint).toMatchObject({ whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honor' });
  });

  it('migrations run as the owner, before an upgrade and after the installation of the cluster', () => {
    const job = find<Workload>(manifests, 'Job');
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('post-install,pre-upgrade');
    const secret = { name: 'animal-store-postgres-app', items: [{ key: 'uri', path: 'migration-database-url' }] };
    expect(job.spec.template.spec.volumes).toMatchObject([{ projected: { sources: [{ secret }] } }]);
    const { initContainers = [], containers } = job.spec.template.spec;
    expect([...initContainers, ...containers].map(({ command }) => command?.join(' '))).toEqual([
      'animal-store migrate up',
      'animal-store grants service animal_store_service --apply',
      'animal-store grants keys animal_store_keys --apply',
    ]);
  });
});

it('without a cluster, migrations run before the installation', () => {
  const job = find<Workload>(render(...DATABASE), 'Job');
  expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
  expect(job.spec.template.spec.containers.map(({ command }) => command)).toEqual([['animal-store', 'migrate', 'up']]);
});

it('with a managed PostgreSQL, the chart adds no PostgreSQL, and runs migrations and grants before the installation', () => {
  const manifests = render(...MANAGED);
  const postgres = ['Cluster', 'ScheduledBackup', 'PodMonitor'];
  expect(manifests.filter(({ kind, metadata }) => postgres.includes(kind) || metadata.name.includes('postgres'))).toEqual([]);
  const job = find<Workload>(manifests, 'Job');
  expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
  const { initContainers = [], containers } = job.spec.template.spec;
  expect([...initContainers, ...containers].map(({ name }) => name)).toEqual(['migrate', 'grant-service', 'grant-keys']);
});

describe('with the values of a demanding cluster', () => {
  const manifests = render('--values', DEMANDING_VALUES);
  const deployment = find<Workload>(manifests, 'Deployment');
  const job = find<Workload>(manifests, 'Job');
  const pods = [deployment, job].map(({ spec }) => spec.template.spec);
  const [api, ...sidecars] = deployment.spec.template.spec.containers as [Container, ...Container[]];
  const migrations = [...(job.spec.template.spec.initContainers ?? []), ...job.spec.template.spec.containers];

  it('every manifest matches the JSON schema of its kind and its type', async () => {
    const known = manifests.filter(({ kind }) => kind !== 'HTTPRoute');
    expect((await Promise.all(known.map(schemaErrors))).flat()).toEqual([]);
    expect(typeErrors(known)).toEqual([]);
  });

  it('all objects have the common labels, and extra objects are rendered', () => {
    const { metadata } = find(manifests, 'HTTPRoute');
    expect(metadata).toEqual({ name: 'animal-store' });
    for (const { kind, metadata } of manifests) if (kind !== 'HTTPRoute') expect(metadata.labels).toMatchObject({ team: 'store' });
  });

  it('all pods have the fields of podSpec, without those that are null', () => {
    for (const pod of pods) {
      expect(pod).not.toHaveProperty('volumes');
      expect(pod).toMatchObject({
        ...{ automountServiceAccountToken: true, terminationGracePeriodSeconds: 120 },
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['database'] }],
        dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
      });
      expect(pod).not.toHaveProperty('enableServiceLinks');
      expect(pod.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    }
  });

  it('all containers of the image have the variables, after those of the chart, and the paths of secrets', () => {
    for (const { env = [], securityContext } of [api, ...migrations]) {
      expect(env.slice(-2).map(({ name }) => name)).toEqual(['OTEL_RESOURCE_ATTRIBUTES', 'OTEL_EXPORTER_OTLP_HEADERS']);
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: false });
      expect(env).toContainEqual({ name: expect.stringMatching(/DATABASE_URL_FILE$/), value: '/vault/url' });
    }
    expect(api.env).toContainEqual({ name: 'REDIS_URL_FILE', value: '/vault/redis' });
    for (const name of ['HOST', 'ADMIN_HOST']) expect(api.env).toContainEqual({ name, value: '::' });
  });

  it('only the pods of the service have the additional containers', () => {
    expect(sidecars.map(({ name }) => name)).toEqual(['proxy']);
    expect(deployment.spec.template.spec.initContainers).toEqual([{ name: 'wait', image: 'wait:1' }]);
    expect(migrations.map(({ name }) => name)).toEqual(['migrate', 'grant-service', 'grant-keys']);
    expect(api).toMatchObject({ lifecycle: { preStop: { sleep: { seconds: 5 } } }, terminationMessagePolicy: 'FallbackToLogsOnError' });
    expect(JSON.stringify(api)).not.toContain('"exec"');
  });

  it('objects have the overrides: values, also 0, replace, and null removes', () => {
    expect(deployment.spec).toMatchObject({ revisionHistoryLimit: 3 });
    expect(deployment.spec).not.toHaveProperty('replicas');
    expect(find(manifests, 'Service')).toMatchObject({ spec: { ipFamilyPolicy: 'PreferDualStack', trafficDistribution: 'PreferClose' } });
    const { spec } = find<Manifest & { spec: object }>(manifests, 'PodDisruptionBudget');
    expect(spec).toMatchObject({ minAvailable: 0 });
    expect(spec).not.toHaveProperty('maxUnavailable');
    expect(job.spec).toMatchObject({ ttlSecondsAfterFinished: 1_000_000, backoffLimit: 6 });
    expect(job.metadata.annotations).toEqual({ 'argocd.argoproj.io/hook': 'Sync', 'helm.sh/hook-delete-policy': 'before-hook-creation' });
  });
});

function selectorsOf(manifest: Manifest): readonly Readonly<Record<string, string>>[] {
  type Labels = Readonly<Record<string, string>>;
  const { kind, spec } = manifest as Manifest & { spec?: { selector?: { matchLabels?: Labels }; podSelector?: { matchLabels?: Labels } } };
  if (kind === 'Service') return [(spec?.selector ?? {}) as Labels];
  const selected = spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels;
  return selected ? [selected] : [];
}
