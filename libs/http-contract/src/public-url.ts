/** Builds the URLs in responses: below the configured base URL if there is one, otherwise relative to the origin. */
export abstract class PublicUrl {
  /** @param path starts with a slash; for an operation, includes the version prefix: `/v1/pets` */
  abstract of(path: string): string;
}
