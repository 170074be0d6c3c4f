import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { variables } from '@animal-store/api/configuration';
import { ROOT } from '@animal-store/checks/workspace';

interface Variable {
  readonly name: string;
  readonly desc?: string | undefined;
  readonly default?: string | number | boolean | readonly string[] | undefined;
  readonly example?: string | undefined;
  /** What the value must be. */
  readonly rule?: string;
}

const all = Object.entries<Omit<Variable, 'name'>>(variables).map(([name, variable]): Variable => ({ name, ...variable }));

/** Read by `npm start`, `npm run dev` and the command line, not by the service. */
const DATA_DIR: Variable = {
  name: 'DATA_DIR',
  desc: 'Folder in which `npm start` stores the local PostgreSQL and the first API key.',
  default: '.data',
  rule: 'a path',
};

const defaultOf = (variable: Variable) => String(variable.default ?? '');

/** Returns the text of `.env.example`. */
function renderEnvExample(): string {
  const entries = [...all, DATA_DIR].map((variable) => {
    const { name, desc = '', rule = '', example = '' } = variable;
    return `# ${desc}\n# Must be ${rule}.\n#${name}=${defaultOf(variable) || example}\n`;
  });
  return [
    '# Copy this file to .env. `npm start`, `npm run dev` and `animal-store` read .env. Environment variables take precedence over .env.',
    '# Each line sets a variable to its default, or to an example if there is no default. `npx nx documents checks` writes this file.\n',
    ...entries,
  ].join('\n');
}

const INTRODUCTION = `# Variables

The service reads these environment variables. Empty values count as unset, except for URLs of databases and paths of files. To read \`DATABASE_URL\` from a [file](operations.md#database-connections), set \`DATABASE_URL_FILE\` to the path of the file instead. The same applies to \`DATABASE_REPLICA_URLS\`, \`MIGRATION_DATABASE_URL\` and \`REDIS_URL\`. A boolean is \`true\`, \`on\`, \`yes\`, \`1\`, \`false\`, \`off\`, \`no\` or \`0\`.

\`npm start\`, \`npm run dev\` and \`animal-store\` also read variables from the file \`.env\`. These commands also read \`DATA_DIR\` (default \`.data\`), the folder for the local PostgreSQL and the first API key. \`animal-store\` also reads [\`OPERATOR\`](operations.md#keys-and-clients).
`;

/** Returns the text of docs/variables.md. */
function renderVariables(): string {
  const items = all
    .filter(({ name }) => !name.endsWith('_FILE'))
    .map((variable) => {
      const { name, desc = '', rule = '' } = variable;
      const value = rule.replace(/^one of true, .*/, 'boolean').replace(/^(?:an integer from|an?|one of) /, '');
      const unit = /_(?:MS|SECONDS)$/.exec(name)?.[0].toLowerCase().replace('_', ' ') ?? '';
      const fallback = defaultOf(variable) && `; default \`${defaultOf(variable)}\``;
      return `- \`${name}\` (${value}${unit}${fallback}): ${desc}\n`;
    });
  return `${INTRODUCTION}\n${items.join('')}`;
}

/** The generated documents, and functions that return their text. */
export const DOCUMENTS: Readonly<Record<string, () => string>> = {
  '.env.example': renderEnvExample,
  'docs/variables.md': renderVariables,
};

// `npx nx documents checks`
if (import.meta.main) for (const [file, render] of Object.entries(DOCUMENTS)) writeFileSync(join(ROOT, file), render());
