/**
 * Returns the CPU milliseconds that this process spends on `work`. Unlike elapsed time, CPU time ignores machine
 * pauses.
 */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
