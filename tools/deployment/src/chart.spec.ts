import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, variables } from '@animal-store/api/configuration';
import { Ajv } from 'ajv';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { CHART, readChartFile, readValues, readWorkspaceFile } from './testing/files.js';

/** Set by the templates: from Secrets, and because the ports, the migrations and Citus have values of their own. */
const OF_TEMPLATES = [
  ...['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'MIGRATION_DATABASE_URL', 'REDIS_URL'].flatMap((name) => [name, `${name}_FILE`]),
  ...['HOST', 'PORT', 'ADMIN_HOST', 'ADMIN_PORT', 'MIGRATE_ON_START', 'CITUS'],
];
/** Of the shell scripts of the migration Job. */
const OF_SCRIPTS = ['SERVICE_ROLE', 'KEYS_ROLE'];

interface Schema {
  readonly properties: { readonly config: { readonly properties: object; readonly additionalProperties: boolean } };
}

const schema = JSON.parse(readChartFile('values.schema.json')) as Schema;
const templates = readdirSync(join(CHART, 'templates')).map((file) => readChartFile(`templates/${file}`));

it('values.schema.json admits exactly the variables of the service that hold no secret and no address', () => {
  const { properties, additionalProperties } = schema.properties.config;
  expect(additionalProperties).toBe(false);
  expect([...Object.keys(properties), ...OF_TEMPLATES].sort()).toEqual(Object.keys(variables).sort());
});

it('the templates set variables that the service reads', () => {
  const named = templates.flatMap((template) =>
    [...template.matchAll(/(?:"variable" "|name: )([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name),
  );
  expect(named).toEqual(expect.arrayContaining(['DATABASE_URL', 'REDIS_URL', 'ADMIN_PORT']));
  expect(named.filter((name) => ![...OF_TEMPLATES, ...OF_SCRIPTS].includes(name))).toEqual([]);
});

describe.each(['values.yaml', 'values-staging.yaml', 'values-production.yaml'])('%s', (file) => {
  // Helm checks the schema after it has merged the files.
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

  it('would not be valid with a variable or a value that is misspelt', () => {
    expect(validate({ ...values, config: { ...values.config, RATE_LIMITS: 1 } })).toBe(false);
    expect(validate({ ...values, config: { ...values.config, DATABASE_URL: 'postgres://' } })).toBe(false);
    expect(validate({ ...values, replica: 1 })).toBe(false);
  });
});

it('the chart has the version of the service', () => {
  const { version, appVersion } = parse(readChartFile('Chart.yaml')) as Record<string, unknown>;
  const service = JSON.parse(readWorkspaceFile('apps/api/package.json')) as { version: string };
  expect([version, appVersion]).toEqual([service.version, service.version]);
});

it('runs as the user of the image', () => {
  const dockerfile = readWorkspaceFile('Dockerfile');
  const [, user, group] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? [];
  const helpers = readChartFile('templates/_helpers.tpl');
  expect([/runAsUser: (\d+)/.exec(helpers)?.[1], /runAsGroup: (\d+)/.exec(helpers)?.[1]]).toEqual([user, group]);
});
