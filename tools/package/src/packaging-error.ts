/** Why the service cannot be packaged; the message is for a person, without a stack. */
export class PackagingError extends Error {
  override readonly name = 'PackagingError';
}
