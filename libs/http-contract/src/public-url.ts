/** Builds the addresses that answers carry; a configured base prefixes them, otherwise they are relative to the origin. */
export abstract class PublicUrl {
  /** @param path begins with a slash and holds the version prefix: `/v1/pets` */
  abstract of(path: string): string;
}
