import { readdirSync } from 'node:fs';
import { basename, join, matchesGlob } from 'node:path';
import { CLOSE_TIMEOUT_MS, FINISH_TIMEOUT_MS, PROBE_TIMEOUT_MS, readConfig, variables } from '@animal-store/api/configuration';
import { expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { CHART, readChartFile, readValues, readWorkspaceFile } from './testing/files.js';

interface Schema {
  readonly properties: Readonly<Record<string, { readonly properties?: object; readonly additionalProperties?: boolean }>>;
}

const schema = JSON.parse(readChartFile('values.schema.json')) as Schema;
const templates = readdirSync(join(CHART, 'templates')).map((file) => readChartFile(`templates/${file}`));

it('the templates set the variables of the service that `config` must not contain', () => {
  const { properties = {}, additionalProperties } = schema.properties['config'] ?? {};
  expect(additionalProperties).toBe(false);
  const named = templates.flatMap((template) =>
    [...template.matchAll(/(?:"variable" "|name: )([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name),
  );
  const others = Object.keys(variables).filter((name) => !(name in properties) && !name.endsWith('_FILE') && name !== 'REUSE_PORT');
  expect([...new Set(named)].sort()).toEqual(others.sort());
  for (const [, variable = '', file] of templates.join('\n').matchAll(/"variable" "(\w+)" "secret" \S+ "file" "(.+?)"/g))
    expect(file).toBe(variable.toLowerCase().replaceAll('_', '-'));
});

const isValid = new Ajv({ strict: false }).compile(schema);

it.each(readdirSync(CHART).filter((file) => /^values.*\.yaml$/.test(file)))('values.schema.json accepts %s', (file) => {
  isValid(parse(readChartFile(file)));
  expect(isValid.errors).toBeNull();
});

it.each([
  ['/image/digest', { image: { digest: `sha256:${'0f'.repeat(32)}` } }, { image: { digest: `sha256:${'0f'.repeat(20)}` } }],
  ['', { replicas: 2 }, { replica: 2 }],
  ['/config', { config: { DRAIN_SECONDS: 0 } }, { config: {} }],
  ['/postgres/instances', { postgres: { instances: 3 } }, { postgres: { instances: 2 } }],
])('values.schema.json limits %s', (path, accepted, rejected) => {
  expect(isValid(accepted)).toBe(true);
  expect(isValid(rejected)).toBe(false);
  expect(isValid.errors?.[0]?.instancePath).toBe(path);
});

it('values.yaml has all values that the schema allows, and `overrides` has all objects of the templates', () => {
  const values = parse(readChartFile('values.yaml')) as Record<string, object>;
  expect(Object.keys(values).sort()).toEqual(
    Object.keys(schema.properties)
      // Helm passes these to a subchart.
      .filter((name) => !['enabled', 'global'].includes(name))
      .sort(),
  );
  const rendered = templates.flatMap((template) =>
    [...template.matchAll(/include "animal-store\.object" \(list \. "(\w+)"\)/g)].map(([, name]) => name),
  );
  const defined = templates.flatMap((template) =>
    [...template.matchAll(/define "animal-store\.(\w+)" -\}\}(?:\n\{\{-? .*)*\n(?:#.*\n)?apiVersion:/g)].map(([, name]) => name),
  );
  expect(rendered.sort()).toEqual(defined.sort());
  expect(Object.keys(values['overrides'] ?? {}).sort()).toEqual(rendered);
  expect(Object.keys(schema.properties['overrides']?.properties ?? {}).sort()).toEqual(rendered);
});

it('the templates read each value of values.yaml', () => {
  const text = templates.join('\n');
  const read = new Set([...text.matchAll(/\b[Vv]alues\.([\w.]+)/g)].map(([, path]) => path));
  const unreadOf = (values: object, prefix = ''): string[] =>
    Object.entries(values as Readonly<Record<string, unknown>>).flatMap(([name, value]) => {
      const path = prefix + name;
      if (read.has(path)) return [];
      if (typeof value === 'object' && value !== null) return unreadOf(value, `${path}.`);
      return text.includes(`"${path}"`) ? [] : path;
    });
  expect(unreadOf(parse(readChartFile('values.yaml')) as object)).toEqual([]);
});

it.each([
  ['an upgrade ends no pod before its successor is ready', 'deployment.yaml', 'rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }'],
  ['a node can be drained while no pod is ready', 'pdb.yaml', '\n  unhealthyPodEvictionPolicy: AlwaysAllow\n'],
  ['the pods migrate if no Job does', 'deployment.yaml', 'MIGRATE_ON_START, value: {{ not $values.migrations.enabled | quote }} }'],
  ['and then have an account for it', 'deployment.yaml', 'if not .Values.migrations.enabled }}\n{{- $variables = append '],
  ['else a Job migrates', 'migrations.yaml', '{{- if .Values.migrations.enabled -}}\napiVersion: batch/v1\n'],
  ['it runs when its database exists', 'migrations.yaml', 'ternary "post-install" "pre-install" .Values.postgres.enabled }},pre-up'],
  ['it ends before it is replaced, and leaves logs', 'migrations.yaml', '-migrations-{{ .Release.Revision }}', 'restartPolicy: Never'],
  ['it connects as the owner', 'migrations.yaml', 'include "animal-store.secrets" . | fromJson).migrationDatabase -}}'],
  ['who is the owner of the cluster', '_helpers.tpl', '$migration = ternary $owner $database .Values.postgres.enabled -}}'],
  ['with grants, the service is not the owner', '_helpers.tpl', '{{- if .Values.migrations.grants.enabled }}{{ fail '],
  ['a pod gets its time to stop', 'deployment.yaml', '\nterminationGracePeriodSeconds: {{ include "animal-store.termination'],
  ['a pod has no token, and no variables of Services', '_helpers.tpl', 'automountServiceAccountToken: false\nenableServiceLinks: false\n'],
  ['the group of a pod can read its files', '_helpers.tpl', 'defaultMode: 288\n', 'mountPath: /etc/animal-store/secrets, readOnly: true'],
  ['an empty list: nobody reads metrics', 'networkpolicy.yaml', 'with .Values.networkPolicy.metrics }}\n    - ports: [{ port: metrics'],
  ['a pod can only connect to what is allowed', 'networkpolicy.yaml', '\n  policyTypes: [Ingress, Egress]\n'],
  ['a process that does not respond is replaced', 'deployment.yaml', 'startupProbe:\n  httpGet: { path: /health/live, port: http }\n'],
  ['also later', 'deployment.yaml', 'livenessProbe:\n  httpGet: { path: /health/live, port: http }\n'],
  ['one that is not ready gets no requests', 'deployment.yaml', 'readinessProbe:\n  httpGet: { path: /health/ready, port: http }\n'],
  ['the alert counts instances', 'monitoring.yaml', 'replace "< 3 - 1" (printf "< %d - 1" (int .Values.postgres.instances))'],
  ['a large number stays one', 'configmap.yaml', '{{ $name }}: {{ include "animal-store.text" $value }}\n'],
  ['WAL is archived, and helm uninstall keeps the data', 'postgres.yaml', 'isWALArchiver: true\n', 'helm.sh/resource-policy: keep\n'],
  ['a short dip in load removes no pods', 'hpa.yaml', '\n      stabilizationWindowSeconds: 600\n'],
  ['the URLs of docs/managed-postgresql.md name the file', '../values-managed-postgresql.yaml', 'mountPath: /etc/database\n'],
  ['a lost host holds locks for 90 s', '../values.yaml', "idle: '60'\n    tcp_keepalives_interval: '10'\n    tcp_keepalives_count: '3'"],
  ['a digest precedes a tag', '_helpers.tpl', 'if .Values.image.digest -}}\n{{ .Values.image.repository }}@{{ .Values.image.digest }}\n'],
  ['the image has the version of the service', '_helpers.tpl', '.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}'],
  ['an upgrade keeps the number of pods of the autoscaler', 'deployment.yaml', '{{- if not .Values.autoscaling.enabled }}\n  replicas: '],
  ['replaced pods and drained nodes do not count', 'deployment.yaml', 'matchLabelKeys: [pod-template-hash]', 'nodeTaintsPolicy: Honor'],
  ['a file that all pods have replaces a Secret', '_helpers.tpl', '{{- if or .secret.path (eq .as "file") -}}'],
  ['all paths can be reached', 'ingress.yaml', 'path: /\n            pathType: Prefix\n'],
  [
    'a commit is on two hosts',
    'postgres.yaml',
    'dataDurability: required, failoverQuorum: true }',
    'topologyKey: kubernetes.io/hostname\n',
  ],
  ['the metrics are not published', 'service.yaml', '.service.port }}, targetPort: http, '],
])('%s', (_what, file, ...texts) => {
  for (const text of texts) expect(readChartFile(`templates/${file}`)).toContain(text);
});

it('values-production.yaml has room for the connections of two releases, and reaches PostgreSQL, Redis and the collector', () => {
  const values = readChartFile('values-production.yaml');
  const [pods, size, room] = ['maxReplicas: ', 'DATABASE_POOL_SIZE: ', "max_connections: '"].map((name) =>
    Number.parseInt(values.split(name)[1] ?? ''),
  );
  expect(room).toBeGreaterThan(2 * Number(pods) * Number(size));
  expect([...values.matchAll(/protocol: TCP, port: (\d+)/g)].map(([, port]) => port)).toEqual(['5432', '6379', '4318']);
});

it('each component of a label is selected, and has the label', () => {
  const components = [...templates.join('\n').matchAll(/app\.kubernetes\.io\/component: (\w+)/g)].map(([, component]) => component);
  expect(components.sort()).toEqual(['api', 'metrics', 'metrics', 'migrations', 'migrations']);
  expect(templates.join('\n').match(/(?:selector|matchLabels): \{\{- include "animal-store\.apiLabels" /g)).toHaveLength(5);
});

it.each(['values.yaml', 'values-staging.yaml', 'values-production.yaml'])('%s has values that the service accepts', (file) => {
  const config = { ...readValues('values.yaml').config, ...readValues(file).config };
  const env = Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)]));
  expect(() => readConfig({ ...env, DATABASE_URL: 'postgres://service@database/store' })).not.toThrow();
});

it('the templates read files that the package of the chart has', () => {
  const files = [...templates.join('\n').matchAll(/\.Files\.Get "(.+?)"/g)].map(([, file = '']) => file);
  const ignored = readChartFile('.helmignore').trim().split('\n');
  expect(files.filter((file) => readChartFile(file) === '' || ignored.some((glob) => matchesGlob(basename(file), glob)))).toEqual([]);
});

it('the chart has the version of the service', () => {
  const { version, appVersion } = parse(readChartFile('Chart.yaml')) as Record<string, unknown>;
  const service = JSON.parse(readWorkspaceFile('apps/api/package.json')) as { version: string };
  expect([version, appVersion]).toEqual([service.version, service.version]);
});

it('a pod and the container of Docker Compose get more time to stop than the service can need after DRAIN_SECONDS', () => {
  const stopSeconds = (FINISH_TIMEOUT_MS + CLOSE_TIMEOUT_MS) / 1000;
  const [, seconds] = /DRAIN_SECONDS\) (\d+) -\}\}/.exec(readChartFile('templates/_helpers.tpl')) ?? [];
  expect(readChartFile('templates/_helpers.tpl')).toContain('add (int .Values.preStopSeconds) (int .Values.config.DRAIN_SECONDS) ');
  expect(Number(seconds)).toBe(stopSeconds + 5);
  expect(templates.join('\n')).toContain('command: [sleep, {{ $values.preStopSeconds | quote }}]');
  const [, compose] = /stop_grace_period: (\d+)s/.exec(readWorkspaceFile('docker-compose.yml')) ?? [];
  expect(Number(compose)).toBe(readConfig({ DATABASE_URL: 'postgres://database/store' }).drainSeconds + stopSeconds + 5);
});

it('a changed variable replaces the pods, which have no privileges and run as the user of the image', () => {
  expect(readChartFile('templates/deployment.yaml')).toContain('checksum/config: {{ .Values.config | toJson | sha256sum }}');
  const [, user, group] = /^USER (\d+):(\d+)$/m.exec(readWorkspaceFile('Dockerfile')) ?? [];
  expect(readChartFile('values-openshift.yaml')).toContain('podSecurityContext:\n  runAsUser: null\n  runAsGroup: null\n  fsGroup: null\n');
  expect(parse(readChartFile('values.yaml'))).toMatchObject({
    podSecurityContext: { runAsNonRoot: true, runAsUser: Number(user), runAsGroup: Number(group), fsGroup: Number(group) },
    containerSecurityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  });
});

it('the metrics of a pod that is not ready and the status of PostgreSQL can be read', () => {
  expect(readChartFile('templates/service.yaml')).toMatch(/^ {2}clusterIP: None\n[^]*^ {2}publishNotReadyAddresses: true$/m);
  const ports = [...readChartFile('templates/networkpolicy.yaml').matchAll(/port: (\S+|\{\{.*\}\}), protocol: TCP/g)].map(
    ([, port]) => port,
  );
  expect(ports).toEqual(['{{ . }}', 'http', 'metrics', '5432', '5432', '8000', '9187']);
});

it('Kubernetes waits longer for a probe of readiness than the probe waits for the database', () => {
  const { readinessProbe } = parse(readChartFile('values.yaml')) as { readinessProbe: { timeoutSeconds: number } };
  expect(1_000 * readinessProbe.timeoutSeconds).toBeGreaterThan(PROBE_TIMEOUT_MS);
});

it('what the Job of the migrations needs exists before it', () => {
  const hooks = readChartFile('templates/migrations.yaml').matchAll(
    /\nkind: (\w+)\n(?:[^-].*\n)*? {4}helm\.sh\/hook: .*\n(?: {4}helm\.sh\/hook-weight: '(-?\d+)'\n(?: {4}#.*\n)?)? {4}helm\.sh\/hook-delete-policy: (.+)\n/g,
  );
  expect([...hooks].map(([, ...hook]) => hook)).toEqual([
    ['ServiceAccount', '-1', 'before-hook-creation,hook-succeeded'],
    ['NetworkPolicy', '-1', 'before-hook-creation,hook-succeeded'],
    ['Job', undefined, 'before-hook-creation'],
  ]);
});

it('the Job grants privileges to the roles that the examples create', () => {
  expect(readChartFile('templates/migrations.yaml')).toMatch(
    /= list \(dict .*"migrate" "up"[^]*append .*"grants" "service" \$grants\.serviceRole "--apply"[^]*append .*"grants" "keys" \$grants\.keysRole "--apply"/,
  );
  const { migrations } = parse(readChartFile('values.yaml')) as { migrations: { grants: { serviceRole: string; keysRole: string } } };
  for (const file of ['values-staging.yaml', 'values-production.yaml']) {
    const { postgres } = parse(readChartFile(file)) as { postgres: { roles: object } };
    expect(Object.keys(postgres.roles)).toEqual([migrations.grants.serviceRole, migrations.grants.keysRole]);
  }
});
