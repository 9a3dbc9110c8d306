import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What a process has used, from /proc (Linux); elsewhere from `ps`, whose CPU time counts in whole seconds. */
export interface Usage {
  readonly cpuMs: number;
  /** Resident memory. */
  readonly bytes: number;
  /** Most that it ever was; Linux only. */
  readonly peakBytes?: number;
}

/** Of a kernel built as all common ones are. */
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
  return {
    cpuMs: cpuMsOf(stat),
    bytes: kilobytes('VmRSS') * 1024,
    peakBytes: kilobytes('VmHWM') * 1024,
  };
}

/** Fields 14 and 15 of /proc/…/stat; the name before them may hold blanks and parentheses. */
function cpuMsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / clockTicksPerSecond;
}

async function usageFromPs(pid: number): Promise<Usage> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=,time=', '-p', String(pid)]);
  const [rss = '0', time = '0'] = stdout.trim().split(/\s+/);
  const seconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuMs: seconds * 1000, bytes: Number(rss) * 1024 };
}

/** CPU milliseconds of each kind of thread of a process from now until `stop`; empty where /proc is absent. */
export async function measureThreads(pid: number): Promise<{ stop(): Promise<Map<string, number>> }> {
  const before = await threadsOf(pid);
  return {
    stop: async () => {
      const after = await threadsOf(pid);
      return new Map([...after].map(([name, ms]) => [name, ms - (before.get(name) ?? 0)]));
    },
  };
}

async function threadsOf(pid: number): Promise<Map<string, number>> {
  const byName = new Map<string, number>();
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  for (const thread of threads) {
    const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8').catch(() => '');
    const name = /\((.*)\)/.exec(stat)?.[1];
    if (name === undefined) continue;
    const label = Number(thread) === pid ? 'main thread' : name;
    byName.set(label, (byName.get(label) ?? 0) + cpuMsOf(stat));
  }
  return byName;
}

/** CPU milliseconds of each process from now until `stop`. */
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
