import type { ContextNames } from '../names.ts';

interface Library {
  readonly layer: string;
  /** The libraries that it and its specs import, as relative folders. */
  readonly references: readonly string[];
  /** Its content, for the README of the context. */
  readonly contents: (names: ContextNames) => string;
}

export const LIBRARIES: readonly Library[] = [
  {
    layer: 'contract',
    references: [],
    contents: ({ Entity }) => `the port \`${Entity}Catalogue\`, which other contexts may import`,
  },
  {
    layer: 'domain',
    references: ['../../kernel'],
    contents: ({ Entity }) => `\`${Entity}\`, its rules and errors, and the ports \`${Entity}Reader\` and \`${Entity}Repository\``,
  },
  {
    layer: 'application',
    references: ['../../kernel', '../domain'],
    contents: () => 'the use cases, which are plain classes',
  },
  {
    layer: 'infrastructure',
    references: ['../../kernel', '../domain', '../contract', '../../test-kit', '../../database'],
    contents: ({ schema }) => `the PostgreSQL schema \`${schema}\`, with entities, migrations and adapters`,
  },
  {
    layer: 'http',
    references: ['../infrastructure', '../application', '../../kernel', '../domain', '../contract', '../../http-kit'],
    contents: () => 'the controller, its DTOs, and the Nest module',
  },
];
