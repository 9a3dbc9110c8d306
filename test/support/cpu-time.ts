/** The milliseconds of CPU time that this process spends on `work`: a machine that stands still adds nothing to them. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
