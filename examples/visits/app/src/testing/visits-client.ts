import type { APIPromise, ClientOptions, CreateOptions, PagePromise, RequestOptions } from '@animal-store/client';
import { listPage, patch, post, remove, retrieve, retrieveBytes, Transport } from '@animal-store/client/resource';

export interface NewVisit {
  readonly petId: bigint;
  readonly startsAt: string;
  readonly durationMinutes: number;
  readonly reason: string;
  readonly notes?: string | null;
}

/** `petId` is a number, because the client only knows the int64 members of the product. */
export interface Visit extends Omit<NewVisit, 'petId'> {
  readonly id: bigint;
  readonly petId: number;
  readonly status: string;
}

export interface ListedVisit extends Visit {
  readonly petName: string | null;
}

type ListParams = Partial<Pick<NewVisit, 'petId'>> &
  Readonly<Partial<Record<'status' | 'from' | 'to' | 'sort', string>>> & { readonly limit?: number };

const VISITS = { path: '/visits' };

/** The client of the example. That of a context of the product is part of `libs/client/src`. */
export class Visits {
  private readonly transport: Transport;

  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
  }

  list(params: ListParams = {}, options?: RequestOptions): PagePromise<ListedVisit> {
    return listPage(this.transport, VISITS, params, options);
  }

  create(visit: NewVisit, options: CreateOptions = {}): APIPromise<Visit> {
    return post(this.transport, VISITS, visit, options);
  }

  retrieve(id: bigint, options?: RequestOptions): APIPromise<Visit> {
    return retrieve(this.transport, { ...VISITS, id }, options);
  }

  change(
    id: bigint,
    changes: Partial<Pick<NewVisit, 'durationMinutes' | 'reason' | 'notes'>>,
    options: CreateOptions = {},
  ): APIPromise<Visit> {
    return patch(this.transport, { ...VISITS, id }, changes, options);
  }

  delete(id: bigint, options: CreateOptions = {}): APIPromise<void> {
    return remove(this.transport, { ...VISITS, id }, options);
  }

  checkIn(id: bigint, options: CreateOptions = {}): APIPromise<Visit> {
    return post(this.transport, { ...VISITS, id, subpath: 'check-in' }, undefined, options);
  }

  addReport(id: bigint, pdf: Blob, options: CreateOptions = {}): APIPromise<{ readonly id: bigint; readonly size: number }> {
    return post(this.transport, { ...VISITS, id, subpath: 'report' }, pdf, options);
  }

  report(id: bigint, options?: RequestOptions): APIPromise<Uint8Array> {
    return retrieveBytes(this.transport, { ...VISITS, id, subpath: 'report' }, 'application/pdf', options);
  }

  cancel(id: bigint, options: CreateOptions = {}): APIPromise<Visit> {
    return post(this.transport, { ...VISITS, id, subpath: 'cancel' }, undefined, options);
  }
}
