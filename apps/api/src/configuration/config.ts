import { bool, customCleanEnv, makeExactValidator, makeValidator, str } from 'envalid';
import { StartupError } from './startup-error.js';

const integer = (minimum: number, maximum: number) =>
  makeExactValidator<number>((text) => {
    const value = Number(text);
    if (!/^[0-9]{1,10}$/.test(text) || value < minimum || value > maximum) {
      throw new Error(`must be an integer from ${String(minimum)} to ${String(maximum)}`);
    }
    return value;
  });

const urlOf = (protocols: string[], rule: string) =>
  makeExactValidator<string>((text) => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) throw new Error(`must be ${rule}`);
    return text;
  });

const httpUrl = makeExactValidator<string>((text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new Error('must be an http or https URL without query, for example https://api.example.com/store');
  }
  return text.replace(/\/+$/, '');
});

const origins = makeExactValidator<readonly string[]>((text) => {
  const list = text.split(',').map((origin) => origin.trim());
  for (const origin of list) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new Error('must be origins such as https://app.example.com, separated by commas');
    }
  }
  return list;
});

const environmentName = makeValidator<string>((text) => {
  if (!/^[a-z][a-z0-9]{0,19}$/.test(text)) throw new Error('must be 1 to 20 lower-case letters and digits, a letter first');
  return text;
});

/** Every environment variable of the service, in the order of `.env.example`. */
export const variables = {
  DATABASE_URL: urlOf(
    ['postgres:', 'postgresql:'],
    'a postgres:// URL',
  )({
    desc: 'PostgreSQL, with TLS as its sslmode says. Unset, `npm start` runs a PostgreSQL of its own.',
    example: 'postgres://animal_store:secret@localhost:5432/animal_store',
  }),
  DATABASE_POOL_SIZE: integer(1, 1000)({ default: 10, desc: 'Connections to PostgreSQL that one process keeps at most.' }),
  MIGRATE_ON_START: bool({ default: true, desc: 'Apply pending migrations before serving.' }),
  HOST: str({ default: '127.0.0.1', desc: 'Address to listen on; 0.0.0.0 for all.' }),
  PORT: integer(0, 65535)({ default: 3000, desc: 'Port to listen on; 0 picks a free one.' }),
  PUBLIC_BASE_URL: httpUrl({
    default: undefined,
    desc: 'Where clients reach the service, without /v1; prefixes Location, Link and the OpenAPI servers.',
    example: 'https://api.example.com',
  }),
  STAGING_BASE_URL: httpUrl({
    default: undefined,
    desc: 'The same for the staging environment, for the OpenAPI document only.',
    example: 'https://staging.example.com',
  }),
  CORS_ORIGINS: origins({
    default: [],
    desc: 'Origins whose scripts may call the API from a browser, separated by commas.',
    example: 'https://app.example.com,https://admin.example.com',
  }),
  ENVIRONMENT: environmentName({ default: 'production', desc: 'Names the environment in new API keys: ast_<environment>_…' }),
  LOG_LEVEL: str({
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
    desc: 'Least severe lines that are logged.',
  }),
};

export interface Config {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly migrateOnStart: boolean;
  readonly host: string;
  readonly port: number;
  readonly publicBaseUrl: string | undefined;
  readonly stagingBaseUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly environment: string;
  readonly logLevel: string;
}

/** @throws StartupError with one line per missing or bad variable */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const values = customCleanEnv(given, variables, (cleaned) => cleaned, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(
        ([name, error]) => `${name} ${name in given ? error.message : 'is required but not set'}`,
      );
      if (problems.length > 0) throw new StartupError(problems.join('\n'));
    },
  });
  return {
    databaseUrl: values.DATABASE_URL,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    migrateOnStart: values.MIGRATE_ON_START,
    host: values.HOST,
    port: values.PORT,
    publicBaseUrl: values.PUBLIC_BASE_URL,
    stagingBaseUrl: values.STAGING_BASE_URL,
    corsOrigins: values.CORS_ORIGINS,
    environment: values.ENVIRONMENT,
    logLevel: values.LOG_LEVEL,
  };
}
