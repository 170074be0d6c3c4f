/** Resolves to undefined if the work takes longer than `ms`. Its result is then ignored, also if it fails. */
export async function withDeadline<Result>(work: Promise<Result>, ms: number): Promise<Result | undefined> {
  const { promise: expired, resolve } = Promise.withResolvers<undefined>();
  // An event loop that was blocked first reads the responses that have arrived meanwhile.
  const timer = setTimeout(() => setImmediate(resolve, undefined), ms);
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
