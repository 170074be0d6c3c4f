import cluster from 'node:cluster';
import { Batcher, BatchSlots } from '@animal-store/database';
import {
  PET_STATUSES,
  PetCatalogue,
  type PetId,
  type PetListQuery,
  type PetPage,
  type PetStatus,
  type PetView,
} from '@animal-store/pets-domain';
import type { PageRequest, PostgresPetCatalogue } from './postgres-pet-catalogue.js';

const MOST_PETS = 256;
/** At most MAX_PAGE_LENGTH rows each. */
const MOST_PAGES = 32;

/**
 * Statements that read, all kinds together: enough to keep PostgreSQL busy while the answers of one are sent. Several workers do
 * that by themselves.
 */
const MOST_STATEMENTS = cluster.isWorker ? 1 : 2;

type Pages = Batcher<PageRequest, PetPage>;

/** Concurrent reads travel together, and those of the same pet or page share one answer; see `Batcher`. */
export class SharedPetCatalogue extends PetCatalogue {
  private readonly pets: Batcher<PetId, PetView | undefined>;
  private readonly pages: Pages;
  private readonly pagesByStatus: Readonly<Record<PetStatus, Pages>>;

  constructor(catalogue: PostgresPetCatalogue) {
    super();
    const slots = new BatchSlots(MOST_STATEMENTS);
    const pagesOf = (status?: PetStatus): Pages =>
      new Batcher({ run: (requests) => catalogue.listAll(status, requests), maxSize: MOST_PAGES, slots });
    this.pets = new Batcher({ run: (ids) => catalogue.findAll(ids), maxSize: MOST_PETS, slots });
    this.pages = pagesOf();
    this.pagesByStatus = Object.fromEntries(PET_STATUSES.map((status) => [status, pagesOf(status)])) as Record<PetStatus, Pages>;
  }

  override find(id: PetId): Promise<PetView | undefined> {
    return this.pets.submit(id);
  }

  override list({ limit, status, after }: PetListQuery): Promise<PetPage> {
    const pages = status === undefined ? this.pages : this.pagesByStatus[status];
    return pages.submit({ after, limit }, `${String(limit)} ${String(after)}`);
  }
}
