import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { variables, variablesOf } from '@animal-store/api/configuration';
import { contexts } from '@animal-store/api/contexts';
import { ROOT } from '@animal-store/checks/workspace';

type Value = string | number | boolean | readonly string[] | undefined;

interface Variable {
  readonly name: string;
  readonly desc?: string | undefined;
  readonly default?: Value;
  readonly devDefault?: Value;
  readonly example?: string | undefined;
  /** What the value must be. */
  readonly rule?: string;
  readonly isSecret?: boolean;
}

/** Read by `npm start`, `npm run dev` and the command line, not by the service. */
const DATA_DIR: Variable = {
  name: 'DATA_DIR',
  desc: 'Folder in which `npm start` stores the local PostgreSQL and the first API key.',
  default: '.data',
  rule: 'a path',
};

const defaultOf = (variable: Variable) => String(variable.default ?? '');

function renderEnvExample(all: readonly Variable[]): string {
  const entries = [...all, DATA_DIR].map((variable) => {
    const { name, desc = '', rule = '', devDefault = '', example = String(devDefault) } = variable;
    return `# ${desc}\n# Must be ${rule}.\n#${name}=${defaultOf(variable) || example}\n`;
  });
  return [
    '# Copy this file to .env. `npm start`, `npm run dev` and `animal-store` read .env. Environment variables take precedence over .env.',
    '# Each line sets a variable to its default, or to an example if there is no default. `npx nx documents checks` writes this file.\n',
    ...entries,
  ].join('\n');
}

const INTRODUCTION = `# Variables

The service reads these environment variables. Empty values count as unset, except for URLs of databases and paths of files. A secret can be in a [file](operations.md#database-connections): instead of \`DATABASE_URL\`, set \`DATABASE_URL_FILE\` to the path of the file. A boolean is \`true\`, \`on\`, \`yes\`, \`1\`, \`false\`, \`off\`, \`no\` or \`0\`.

\`npm start\`, \`npm run dev\` and \`animal-store\` also read variables from the file \`.env\`. These commands also read \`DATA_DIR\` (default \`.data\`), the folder for the local PostgreSQL and the first API key. \`animal-store\` also reads [\`OPERATOR\`](operations.md#keys-and-clients).

Standard variables of libpq and OpenTelemetry, such as \`PGHOST\` and \`OTEL_EXPORTER_OTLP_HEADERS\`, also apply. The log names those that have no effect.
`;

/** Returns the text of docs/variables.md. */
function renderVariables(all: readonly Variable[]): string {
  const items = all
    .filter(({ name }) => !name.endsWith('_FILE'))
    .map((variable) => {
      const { name, desc = '', rule = '', isSecret } = variable;
      const value = rule.replace(/^one of true, .*/, 'boolean').replace(/^(?:an integer from|an?|one of) /, '');
      const unit = /_(?:MS|SECONDS)$/.exec(name)?.[0].toLowerCase().replace('_', ' ') ?? '';
      const fallback = defaultOf(variable) && `; default \`${defaultOf(variable)}\``;
      return `- \`${name}\` (${value}${unit}${fallback}${isSecret ? '; secret' : ''}): ${desc}\n`;
    });
  return `${INTRODUCTION}\n${items.join('')}`;
}

/** Variables that other values of the chart set, and REUSE_PORT, because a pod has one process. */
const NOT_IN_CONFIG = ['HOST', 'PORT', 'ADMIN_HOST', 'ADMIN_PORT', 'MIGRATE_ON_START', 'CITUS', 'REUSE_PORT'];
const SCHEMA = 'deploy/helm/animal-store/values.schema.json';

interface Schema {
  readonly properties: {
    readonly config: { properties: object };
    readonly secrets: { readonly properties: { readonly contexts: { properties: object } } };
  };
}

/** Returns the text of the schema of the chart's values, with the variables in `config` and the secrets of contexts. */
function renderSchema(all: readonly Variable[]): string {
  const schema = JSON.parse(readFileSync(join(ROOT, SCHEMA), 'utf8')) as Schema;
  const { config, secrets } = schema.properties;
  const property = (definition: string) => (variable: Variable) => [variable.name, { $ref: `#/definitions/${definition}` }] as const;
  const isInConfig = ({ name, isSecret }: Variable) => !isSecret && !name.endsWith('_FILE') && !NOT_IN_CONFIG.includes(name);
  const ofContexts = all.filter(({ name, isSecret }) => isSecret && !(name in variables));
  config.properties = {
    ...Object.fromEntries<object>(all.filter(isInConfig).map(property('variable'))),
    // The chart calculates with it.
    DRAIN_SECONDS: { type: 'integer', minimum: 0 },
  };
  secrets.properties.contexts.properties = Object.fromEntries<object>(ofContexts.map(property('secretOfContext')));
  return JSON.stringify(schema, null, 2);
}

export function renderDocuments(of: Parameters<typeof variablesOf>[0] = contexts): Readonly<Record<string, string>> {
  const all = Object.entries(variablesOf(of)).map(([name, variable]) => ({ ...variable, name }) as Variable);
  return { '.env.example': renderEnvExample(all), 'docs/variables.md': renderVariables(all), [SCHEMA]: renderSchema(all) };
}

// `npx nx documents checks`
if (import.meta.main) for (const [file, text] of Object.entries(renderDocuments())) writeFileSync(join(ROOT, file), text);
