import type { ContextNames } from '../names.ts';

interface Library {
  readonly layer: string;
  /** The libraries it imports, its specs included, as relative folders. */
  readonly references: readonly string[];
  /** For its README. */
  describe(names: ContextNames): { readonly about: string; readonly mayImport: string; readonly startAt: string };
}

export const LIBRARIES: readonly Library[] = [
  {
    layer: 'domain',
    references: ['../../kernel'],
    describe: ({ Entity, file }) => ({
      about: `${Entity}, its name and identifier; the invariants, the errors, and the ports \`${Entity}Repository\` and \`${Entity}Catalogue\`.`,
      mayImport: 'kernel; no npm package, no Node built-in',
      startAt: `${file}.ts`,
    }),
  },
  {
    layer: 'application',
    references: ['../testing', '../../kernel', '../domain'],
    describe: ({ context, Entity, Entities }) => ({
      about: `The use cases: \`List${Entities}\`, \`Create${Entity}\`, \`Get${Entity}\`. Plain classes over the ports.`,
      mayImport: `kernel, ${context}-domain; no npm package, no Node built-in`,
      startAt: `list-${context}.ts`,
    }),
  },
  {
    layer: 'infrastructure',
    references: ['../../kernel', '../testing', '../domain', '../../test-kit', '../../database'],
    describe: ({ context, schema, file }) => ({
      about: `The schema \`${schema}\` in PostgreSQL: entity, migrations, and the adapters of both ports.`,
      mayImport: `kernel, database, ${context}-domain, ${context}-application`,
      startAt: `postgres-${file}-catalogue.ts`,
    }),
  },
  {
    layer: 'http',
    references: ['../infrastructure', '../application', '../../kernel', '../domain', '../../http-contract'],
    describe: ({ context }) => ({
      about: 'The controller, its DTOs, and the Nest module that wires the use cases.',
      mayImport: `kernel, http-contract, ${context}-domain, ${context}-application; ${context}-infrastructure in the module alone`,
      startAt: `${context}.controller.ts`,
    }),
  },
  {
    layer: 'testing',
    references: ['../../kernel', '../domain'],
    describe: ({ context }) => ({
      about: 'For specs: a builder, the in-memory adapter, and the one contract suite that every adapter passes.',
      mayImport: `kernel, ${context}-domain`,
      startAt: `${context}-contract.ts`,
    }),
  },
];
