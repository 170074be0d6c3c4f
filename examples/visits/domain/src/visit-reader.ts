import type { Page, PageRequest } from '@animal-store/kernel';
import type { VisitView } from './visit.js';

/** The filters of a list. There are none yet; docs/adding-a-context.md shows how to add one. */
export type VisitFilter = Readonly<Record<string, never>>;

/** Reads visits. Several callers may get the same object. */
export abstract class VisitReader {
  abstract find(id: bigint): Promise<VisitView | undefined>;

  abstract list(filter: VisitFilter, page: PageRequest): Promise<Page<VisitView>>;
}
