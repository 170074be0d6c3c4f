import { readSecretUrl } from '@animal-store/database';

/** The variables that a file can replace. The placeholder of one that cannot be read prevents that it is also reported as missing or invalid. */
const SECRETS = {
  DATABASE_URL: 'postgres://',
  DATABASE_REPLICA_URLS: 'postgres://',
  MIGRATION_DATABASE_URL: 'postgres://',
  REDIS_URL: 'redis://unread',
};

type Secret = keyof typeof SECRETS;

export interface SecretFiles {
  readonly files: Readonly<Partial<Record<Secret, { readonly file: string }>>>;
  /** Current contents of the files, by the name of the variable that they replace. */
  readonly values: Readonly<Partial<Record<Secret, string>>>;
  /** One line per file that cannot be used. */
  readonly problems: readonly string[];
}

/**
 * Reads the files that variables such as DATABASE_URL_FILE name. An empty variable must not select another database. Only REDIS_URL may be empty,
 * which docker-compose.yml sets by default.
 */
export function readSecretFiles(env: NodeJS.ProcessEnv): SecretFiles {
  const files: Partial<Record<Secret, { file: string }>> = {};
  const values: Partial<Record<Secret, string>> = {};
  const problems: string[] = [];
  for (const [name, placeholder] of Object.entries(SECRETS) as [Secret, string][]) {
    const empty = [name, `${name}_FILE`].find((variable) => env[variable]?.trim() === '' && variable !== 'REDIS_URL');
    if (empty !== undefined) {
      values[name] = placeholder;
      problems.push(`${empty} is empty: set or unset it`);
      continue;
    }
    const file = env[`${name}_FILE`];
    if (!file) continue;
    if (env[name]) problems.push(`${name}_FILE and ${name} must not both be set`);
    files[name] = { file };
    try {
      values[name] = readSecretUrl({ file });
    } catch (error) {
      values[name] = env[name] ?? placeholder;
      problems.push(`${name}_FILE ${(error as Error).message}`);
    }
  }
  return { files, values, problems };
}
