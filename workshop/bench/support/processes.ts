import type { Stand } from '../../stand/stand.ts';
import type { BenchGateway } from './gateway.ts';
import type { BenchOptions } from './options.ts';
import { short, type Goal, type Report } from './report.ts';
import { measureInTurns, middleOf, roundsOf, rowsOf, type Measured, type Subject } from './rounds.ts';

interface Compared {
  readonly title: string;
  readonly subject: (urls: readonly string[]) => Subject;
  readonly warmUp: (urls: readonly string[]) => Subject;
}

const usual = { rounds: 3, connections: [16, 64], countMax: 50_000 };
const growthMax = 1.1;

/**
 * Measures one number of processes after the other. Measurements cannot be interleaved, because every running worker
 * takes its share of the tasks.
 */
export async function benchProcesses(
  { counts, ...options }: BenchOptions & { readonly counts: readonly number[] },
  { gateway, stand }: { readonly gateway: BenchGateway; readonly stand: Stand },
  { title, subject, warmUp }: Compared,
): Promise<Report> {
  const rounds = roundsOf(options, usual);
  const sizes = counts.toSorted((a, b) => a - b);
  const urls = [gateway.url];
  const measured: Measured[] = [];
  for (const size of sizes) {
    while (urls.length < size) urls.push(await gateway.addProcesses());
    const subjects = [{ ...subject(urls), name: nameOf(size), title: nameOf(size) }];
    // The processes share the load, so warm up as many times as there are processes.
    const warmUps = urls.map(() => warmUp(urls));
    measured.push(...(await measureInTurns(stand, rounds, { subjects, warmUp: warmUps })).map(withSums));
  }
  await gateway.close();
  const { connections } = rounds;
  const [fewest = 1] = sizes;
  return {
    setting: { rounds: rounds.rounds, seconds: rounds.seconds },
    tables: [{ title, rows: connections.flatMap((count) => rowsOf(measured, count, nameOf(fewest))) }],
    goals: connections.flatMap((count) => goalsAt(measured, count, sizes)),
    raw: measured,
  };
}

function nameOf(size: number): string {
  return size === 1 ? '1 API and 1 worker' : `${size} APIs and ${size} workers`;
}

function withSums(one: Measured): Measured {
  const cpu: Record<string, number> = {};
  for (const [process, ms] of Object.entries(one.cpu)) {
    const name = process.replace(/-\d+$/, '');
    cpu[name] = (cpu[name] ?? 0) + ms;
  }
  return { ...one, cpu };
}

function goalsAt(measured: readonly Measured[], connections: number, sizes: readonly number[]): Goal[] {
  const ownCpu = (size: number): number => {
    const { api = 0, worker = 0 } = middleOf(measured, nameOf(size), connections)?.cpu ?? {};
    return api + worker;
  };
  const [fewest = 1, ...more] = sizes;
  return more.map((size) => ({
    what: `CPU time of API and worker per call with ${nameOf(size)}, ${connections} connection(s)`,
    goal: `at most ${growthMax} × that with ${nameOf(fewest)}`,
    measured: `${short(ownCpu(size))} ms, ${short(ownCpu(size) / ownCpu(fewest))} ×`,
    met: ownCpu(size) <= growthMax * ownCpu(fewest),
  }));
}
