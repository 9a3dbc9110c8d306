/** Returns the CPU time in milliseconds. Unlike elapsed time, it is not affected by pauses of the machine. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
