/** Why the service cannot start; each line of the message is for a person, without a stack. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
