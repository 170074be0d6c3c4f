/** Stops the server that `global-setup.ts` started. Jest runs both in one process. */
export default async function tearDown(): Promise<void> {
  await (globalThis as { stopPostgres?: () => Promise<void> }).stopPostgres?.();
}
