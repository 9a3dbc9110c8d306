import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * The usage is read from /proc on Linux. On other systems, it comes from `ps`, which reports CPU time in whole seconds.
 */
export interface Usage {
  readonly cpuMs: number;
  readonly bytes: number;
  readonly peakBytes?: number;
}

/** The value on all common Linux kernels. */
const clockTicksPerSecond = 100;

export async function usageOf(pid: number): Promise<Usage> {
  return process.platform === 'linux' ? usageFromProc(pid) : usageFromPs(pid);
}

async function usageFromProc(pid: number): Promise<Usage> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { cpuMs: cpuMsOf(stat), bytes: kilobytes('VmRSS') * 1024, peakBytes: kilobytes('VmHWM') * 1024 };
}

export async function childrenCpuMs(): Promise<number> {
  return cpuMsOf(await readFile('/proc/self/stat', 'utf8'), 13);
}

/**
 * Adds fields 14 and 15 of /proc/…/stat, or 16 and 17 for children. The name of the process, which precedes them, may
 * contain spaces.
 */
function cpuMsOf(stat: string, at = 11): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[at]) + Number(fields[at + 1])) * 1000) / clockTicksPerSecond;
}

async function usageFromPs(pid: number): Promise<Usage> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=,time=', '-p', String(pid)]);
  const [rss = '0', time = '0'] = stdout.trim().split(/\s+/);
  const seconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuMs: seconds * 1000, bytes: Number(rss) * 1024 };
}

export async function measureCpu(
  pids: Readonly<Record<string, number>>,
): Promise<{ stop(): Promise<Record<string, number>> }> {
  const before = await cpuOfAll(pids);
  return {
    stop: async () => {
      const after = await cpuOfAll(pids);
      return Object.fromEntries(
        Object.keys(pids).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]),
      );
    },
  };
}

async function cpuOfAll(pids: Readonly<Record<string, number>>): Promise<Record<string, number>> {
  const entries = await Promise.all(
    Object.entries(pids).map(async ([name, pid]) => [name, (await usageOf(pid)).cpuMs] as const),
  );
  return Object.fromEntries(entries);
}
