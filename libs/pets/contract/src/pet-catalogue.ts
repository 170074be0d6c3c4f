/** What other contexts may ask about animals. Existing methods never change. */
export abstract class PetCatalogue {
  abstract exists(id: bigint): Promise<boolean>;
}
