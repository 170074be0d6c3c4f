/** What other contexts may know about an animal. */
export interface CataloguedPet {
  readonly id: bigint;
  readonly name: string;
}

/** What other contexts may ask about animals. Existing methods never change. */
export abstract class PetCatalogue {
  abstract exists(id: bigint): Promise<boolean>;

  /** Returns the animals with these identifiers, by identifier. There may be at most 100 different identifiers: as many as a page has items. */
  abstract findByIds(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, CataloguedPet>>;
}
