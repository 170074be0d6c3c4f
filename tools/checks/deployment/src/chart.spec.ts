import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, variables } from '@animal-store/api/configuration';
import { Ajv } from 'ajv';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { CHART, readChartFile, readValues, readWorkspaceFile } from './testing/files.js';

/** Variables that the templates set: from Secrets, and from the values for ports, migrations and Citus. */
const TEMPLATE_VARIABLES = [
  ...['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'MIGRATION_DATABASE_URL', 'REDIS_URL'].flatMap((name) => [name, `${name}_FILE`]),
  ...['HOST', 'PORT', 'ADMIN_HOST', 'ADMIN_PORT', 'MIGRATE_ON_START', 'CITUS'],
];

interface Schema {
  readonly properties: Readonly<Record<string, { readonly properties?: object; readonly additionalProperties?: boolean }>>;
}

const schema = JSON.parse(readChartFile('values.schema.json')) as Schema;
const templates = readdirSync(join(CHART, 'templates')).map((file) => readChartFile(`templates/${file}`));

it('values.schema.json allows exactly the variables of the service that are not a secret or an address', () => {
  const { properties, additionalProperties } = schema.properties['config'] ?? {};
  expect(additionalProperties).toBe(false);
  expect([...Object.keys(properties ?? {}), ...TEMPLATE_VARIABLES].sort()).toEqual(Object.keys(variables).sort());
});

it('the templates set only variables that the service reads', () => {
  const named = templates.flatMap((template) =>
    [...template.matchAll(/(?:"variable" "|name: )([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name),
  );
  expect(named).toEqual(expect.arrayContaining(['DATABASE_URL', 'REDIS_URL', 'ADMIN_PORT']));
  expect(named.filter((name) => !TEMPLATE_VARIABLES.includes(name))).toEqual([]);
});

it('values.yaml has all values that the schema allows, and `overrides` has all objects of the templates', () => {
  const values = parse(readChartFile('values.yaml')) as Record<string, object>;
  expect(Object.keys(values).sort()).toEqual(
    Object.keys(schema.properties)
      .filter((name) => name !== 'global')
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

it('each object is rendered from a template, so that it can be overridden', () => {
  const extra = templates.filter((template) => template.replaceAll(/\{\{- define [^]*?\n\{\{- end -\}\}\n/g, '').includes('apiVersion:'));
  expect(extra).toEqual([]);
});

it('no container gets a secret as an argument, which other processes can read', () => {
  for (const template of templates) expect(template).not.toMatch(/psql/);
});

const DEMANDING = '../../../tools/checks/deployment/src/testing/demanding-values.yaml';

describe.each([
  'values.yaml',
  'values-staging.yaml',
  'values-production.yaml',
  'values-openshift.yaml',
  'values-managed-postgresql.yaml',
  DEMANDING,
])('%s', (file) => {
  // Helm validates the merged files against the schema.
  const values = { ...readValues('values.yaml'), ...readValues(file) };
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema);

  it('is valid', () => {
    validate(values);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('has values that the service accepts', () => {
    const config = Object.entries({ ...readValues('values.yaml').config, ...values.config }).map(([name, value]) => [name, String(value)]);
    const env = { ...(Object.fromEntries(config) as Record<string, string>), DATABASE_URL: 'postgres://service@database/store' };
    expect(() => readConfig(env)).not.toThrow();
  });
});

it('values-managed-postgresql.yaml turns off the PostgreSQL of values-production.yaml', () => {
  const [production, managed] = ['values-production.yaml', 'values-managed-postgresql.yaml'].map((file) => readValues(file));
  expect([production?.postgres, managed?.postgres]).toMatchObject([{ enabled: true }, { enabled: false }]);
});

it('the chart has the version of the service', () => {
  const { version, appVersion } = parse(readChartFile('Chart.yaml')) as Record<string, unknown>;
  const service = JSON.parse(readWorkspaceFile('apps/api/package.json')) as { version: string };
  expect([version, appVersion]).toEqual([service.version, service.version]);
});

it('runs as the user of the image', () => {
  const dockerfile = readWorkspaceFile('Dockerfile');
  const [, user, group] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? [];
  const { podSecurityContext } = parse(readChartFile('values.yaml')) as { podSecurityContext: Record<string, unknown> };
  expect(podSecurityContext).toMatchObject({ runAsUser: Number(user), runAsGroup: Number(group), fsGroup: Number(group) });
});
