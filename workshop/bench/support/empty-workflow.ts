export async function plainWorkflow(): Promise<void> {
  await Promise.resolve();
}
