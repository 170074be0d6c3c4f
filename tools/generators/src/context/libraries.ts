interface Library {
  readonly layer: string;
  /** The libraries that it and its specs import, as relative folders. */
  readonly references: readonly string[];
  readonly hasSpecs: boolean;
}

export const LIBRARIES: readonly Library[] = [
  { layer: 'contract', references: [], hasSpecs: false },
  { layer: 'domain', references: ['../../kernel'], hasSpecs: true },
  { layer: 'application', references: ['../../kernel', '../domain'], hasSpecs: true },
  {
    layer: 'infrastructure',
    references: ['../../kernel', '../domain', '../contract', '../../test-kit', '../../database'],
    hasSpecs: true,
  },
  {
    layer: 'http',
    references: ['../infrastructure', '../application', '../../kernel', '../domain', '../contract', '../../http-kit'],
    hasSpecs: false,
  },
];
