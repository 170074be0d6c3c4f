/** What other contexts may ask about visits. Existing methods never change. */
export abstract class VisitCatalogue {
  abstract exists(id: bigint): Promise<boolean>;
}
