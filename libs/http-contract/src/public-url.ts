/** Builds the URLs in responses: below the configured base URL if there is one, otherwise relative to the origin. */
export class PublicUrl {
  constructor(private readonly base = '') {}

  /** @param path starts with a slash; for an operation, includes the version prefix: `/v1/pets` */
  of(path: string): string {
    return this.base + path;
  }
}
