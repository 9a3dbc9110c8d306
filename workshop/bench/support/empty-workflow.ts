/** The minimum work of a plain start. */
export async function plainWorkflow(): Promise<void> {
  await Promise.resolve();
}
