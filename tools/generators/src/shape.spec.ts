import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { FsTree } from 'nx/src/generators/tree.js';
import { generateLibraries } from './context/context.generator.js';
import { namesOfContext } from './names.js';
import { differences, type Sources } from './testing/shape.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));

/** The generated files for the name of the model context. */
const tree = new FsTree('/nowhere', false);
generateLibraries(tree, namesOfContext('pets'));
const generated = new Map(
  tree
    .listChanges()
    .filter(({ path }) => path.startsWith('libs/') && path !== 'libs/client/src/pets.spec.ts')
    .map(({ path, content }) => [withoutTime(path), content?.toString('utf8') ?? '']),
);
const libraries = readdirSync(join(WORKSPACE, 'libs/pets'), { recursive: true, encoding: 'utf8' })
  .map((path) => `libs/pets/${path.replaceAll('\\', '/')}`)
  .filter((path) => /^libs\/pets\/(?:README\.md|\w+\/(?:src\/.*\.ts|[\w.]+\.(?:json|js|md)))$/.test(path));
const pets = new Map(
  [...libraries, 'libs/client/src/pets.ts'].map((path) => [withoutTime(path), readFileSync(join(WORKSPACE, path), 'utf8')]),
);

/** The name of a migration begins with the time when it was generated. */
function withoutTime(path: string): string {
  return path.replace(/\/[0-9]{13}-/, '/');
}

/** Without migrations, because pets has several and the generator creates one, and without test support. */
const sourcesOf = (files: Sources) =>
  new Map([...files].filter(([path]) => path.endsWith('.ts') && !/\/src\/(?:migrations|testing)\//.test(path)));
const templates = sourcesOf(generated);
const model = sourcesOf(pets);

describe('the generator', () => {
  it('generates no file that pets does not have', () => {
    expect(generated.size).toBeGreaterThan(40);
    expect([...generated.keys()].filter((path) => !pets.has(path))).toEqual([]);
  });

  it('generates the shape of pets', () => {
    expect(differences(templates, model)).toEqual([]);
  });

  it.each([...generated].filter(([path]) => /\.(?:json|js|md)$/.test(path)))('generates %s like that of pets', (path, text) => {
    const modelText = pets.get(path) ?? '';
    if (path.endsWith('.md')) expect(linesOf(text)).toEqual(linesOf(modelText));
    else if (path.endsWith('.js')) expect(text).toBe(modelText);
    else expect(JSON.parse(modelText)).toEqual(withReferencesOf(JSON.parse(text) as Config, JSON.parse(modelText) as Config));
  });
});

const linesOf = (readme: string) => readme.match(/^(?:# .*|- .*|\| `\w+`)/gm);

interface Config {
  readonly references?: readonly { readonly path: string }[];
}

/** Specs that only pets has may need more libraries. */
function withReferencesOf(config: Config, { references }: Config): Config {
  if (config.references) expect(references).toEqual(expect.arrayContaining([...config.references]));
  return { ...config, ...(references && { references }) };
}

/** Returns the sources with one text replaced in one file. The text must exist. */
function withReplacement(sources: Sources, file: string, from: string, to: string): Sources {
  const [path = ''] = [...sources.keys()].filter((name) => name.endsWith(`/${file}`));
  const before = sources.get(path) ?? '';
  expect([file, before.includes(from)]).toEqual([file, true]);
  return new Map([...sources, [path, before.replaceAll(from, to)]]);
}

describe('a difference is reported if', () => {
  it.each([
    ['a route lacks a decorator', 'pets.controller.ts', '@Revalidated()', '', '@Revalidated() PetsController.listPets'],
    [
      'a route has another argument',
      'pets.controller.ts',
      '@Throws(PET_NOT_FOUND)',
      '@Throws()',
      '@Throws(PET_NOT_FOUND) PetsController.getPet',
    ],
    ['a route takes no Idempotency-Key', 'pets.controller.ts', '@RequestIdempotencyKey() ', '', 'PetsController.createPet('],
    [
      'a member lacks a decorator',
      'pet.dto.ts',
      '@Rule(PET_NAME_RULE, isPetName)',
      '@Rule(RULE, isPetName)',
      '@Rule(RULE, isPetName) NewPetDto.name',
    ],
    [
      'a use case is not provided',
      'pets.module.ts',
      'provideUseCase(GetPet, PetReader),',
      '',
      'PetsModule providers provideUseCase(GetPet, PetReader)',
    ],
    [
      'a port is not provided',
      'pets.module.ts',
      '{ provide: PetReader,',
      '{ provide: Reader,',
      'PetsModule providers { provide: PetReader,',
    ],
    ['a method has another name', 'pet-reader.ts', 'abstract list(', 'abstract search(', 'PetReader.search('],
    ['a method has other parameters', 'get-pet.ts', 'execute(id: bigint)', 'execute(id: string)', 'GetPet.execute(bigint)'],
    ['a class has another base', 'typeorm-pet-reader.ts', 'extends PetReader', '', 'TypeOrmPetReader extends PetReader'],
    ['an entity is missing', 'pet.entity.ts', 'class PetIdempotencyKeyEntity', 'class Other', 'class PetIdempotencyKeyEntity'],
    ['a class is not exported', 'application/src/index.ts', "export { GetPet } from './get-pet.js';", '', 'export GetPet'],
    ['a method has no suite', 'pets-contract.ts', "describe('addOnce'", "describe('once'", 'describe addOnce'],
    ['an adapter does not run the contract', 'pets.integration.spec.ts', 'describePetsContract(', 'run(', 'describePetsContract()'],
  ])('in a template %s', (_what, file, from, to, difference) => {
    expect(differences(withReplacement(templates, file, from, to), model).join('\n')).toContain(difference);
  });

  it.each([
    ['a method with another name', 'pet-repository.ts', 'abstract addOnce(', 'abstract insertOnce(', 'PetRepository.addOnce('],
    [
      'another decorator',
      'pets.controller.ts',
      '@ApiIdempotencyKey()',
      '@ApiIdempotencyKey()\n@Audited()',
      '@Audited() PetsController.createPet',
    ],
    [
      'another adapter of a port',
      'pets.module.ts',
      'provideUseCase(GetPet,',
      '{ provide: PetReader, useValue: {} }, provideUseCase(GetPet,',
      'PetsModule providers { provide: PetReader, useValue: {} }',
    ],
    [
      'another declaration of the module',
      'pets.module.ts',
      'static readonly tag',
      'static readonly summary = 1;\n  static readonly tag',
      'PetsModule.summary',
    ],
    ['a class with another base', 'typeorm-pet-reader.ts', 'extends PetReader', 'extends Reader', 'TypeOrmPetReader extends Reader'],
    ['another suite', 'pets.integration.spec.ts', 'describeMigrations(', 'describePlans();\ndescribeMigrations(', 'describePlans()'],
  ])('pets has %s', (_what, file, from, to, difference) => {
    expect(differences(templates, withReplacement(model, file, from, to)).join('\n')).toContain(difference);
  });
});

it.each([
  [
    'a field',
    'pet.dto.ts',
    'name!: string;',
    "name!: string;\n  @ApiProperty({})\n  @Rule('must be short', isShort)\n  nickname!: string;",
  ],
  [
    'the type and the rule of a field',
    'pet.ts',
    'export class Pet {',
    'export type Colour = string;\nexport function isColour() {}\nexport class Pet {',
  ],
  ['the suite of a rule', 'pet.spec.ts', "describe('Pet.rehydrate'", "describe('isColour', () => {});\ndescribe('Pet.rehydrate'"],
  ['a filter', 'list-pets.query.ts', '@MayBeAbsent()', '@MayBeAbsent()\n  colour?: string;\n  @MayBeAbsent()'],
  ['a deprecation', 'pets.controller.ts', '@ApiIdempotencyKey()', '@Deprecated({})\n@ApiIdempotencyKey()'],
  ['a method of a port', 'pet-reader.ts', 'abstract find(', 'abstract count(): Promise<bigint>;\n  abstract find('],
  [
    'a route',
    'pets.controller.ts',
    "@Get(':petId')",
    "@Post(':petId/sell')\n  @RequireScopes('pets:write')\n  sellPet(@Body() sale: SalePetDto): Promise<Pet> {}\n\n  @Get(':petId')",
  ],
  [
    'a parameter of a constructor',
    'pets.controller.ts',
    'private readonly publicUrl',
    'private readonly sell: SellPet,\n    private readonly publicUrl',
  ],
  [
    'a class of a request',
    'pet.dto.ts',
    "@ApiSchema({ name: 'NewPet' })",
    "@ApiSchema({ name: 'PetSale' })\nexport class PetSaleDto {}\n\n@ApiSchema({ name: 'NewPet' })",
  ],
  [
    'a use case that is provided',
    'pets.module.ts',
    'provideUseCase(GetPet,',
    'provideUseCase(SellPet, PetRepository), provideUseCase(GetPet,',
  ],
  [
    'the export of a use case',
    'application/src/index.ts',
    'export { GetPet }',
    "export { SellPet } from './sell-pet.js';\nexport { GetPet }",
  ],
  ['a job', 'pets.module.ts', 'static readonly tag', 'static readonly jobs = [];\n  static readonly tag'],
  ['a subscription', 'pets.module.ts', 'static readonly tag', 'static readonly subscriptions = [];\n  static readonly tag'],
  ['an own port', 'in-memory-pets.ts', 'implements ', 'implements PetArchive, '],
  [
    'the adapter of an own port',
    'pets.module.ts',
    'provideUseCase(GetPet,',
    '{ provide: PetArchive, useExisting: TypeOrmPetArchive }, provideUseCase(GetPet,',
  ],
  ['the suite of a use case', 'application/src/pets.spec.ts', "describe('GetPet'", "describe('SellPet', () => {});\ndescribe('GetPet'"],
  ['a spec', 'pets.integration.spec.ts', 'describeMigrations(', "describe('the indexes', () => {});\ndescribeMigrations("],
])('pets may have %s that its template lacks', (_what, file, from, to) => {
  expect(differences(templates, withReplacement(model, file, from, to))).toEqual([]);
});

it.each([
  ['a use case', 'application/src/sell-pet.ts', 'export class SellPet { execute(id: bigint) {} }'],
  ['a port', 'domain/src/pet-archive.ts', 'export abstract class PetArchive { abstract add(id: bigint): Promise<void>; }'],
  ['an adapter', 'infrastructure/src/typeorm-pet-archive.ts', 'export class TypeOrmPetArchive extends PetArchive {}'],
])('pets may have %s that its templates lack', (_what, path, source) => {
  expect(differences(templates, new Map([...model, [`libs/pets/${path}`, source]]))).toEqual([]);
});
