import { setTimeout as delay } from 'node:timers/promises';
import type { Stand } from '../../stand/stand.ts';
import { expectStatus, openConnections, type HttpCall } from './http-connections.ts';
import { middleRun, runLoad, type LoadResult } from './load.ts';
import type { BenchOptions } from './options.ts';
import { percentOf, short, type Goal, type Report, type Row } from './report.ts';
import { measureCpu, usageOf } from './usage.ts';

export interface Subject {
  readonly name: string;
  readonly title: string;
  readonly process?: string;
  open(connections: number): Opened;
}

interface Opened {
  once(caller: number): Promise<void>;
  close(): Promise<void>;
}

export interface Measured {
  readonly name: string;
  readonly title: string;
  readonly run: LoadResult;
  readonly cpu: Readonly<Record<string, number>>;
  readonly bytes: number;
}

export interface Rounds {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: readonly number[];
  readonly countMax: number;
}

const settleMs = 1_000;
const cpuMsShown = 0.01;

export function roundsOf(
  options: BenchOptions,
  usual: Pick<Rounds, 'rounds' | 'connections' | 'countMax'>,
): Rounds {
  const quick = {
    seconds: 2,
    rounds: 1,
    connections: usual.connections.slice(0, 2),
    countMax: usual.countMax,
  };
  const { seconds, rounds, connections, countMax } = options.quick ? quick : { seconds: 10, ...usual };
  return {
    seconds: options.seconds ?? seconds,
    rounds: options.rounds ?? rounds,
    connections: options.connections ?? connections,
    countMax: options.count ?? countMax,
  };
}

/** Runs `warmUp` first, at full load. Otherwise, a new process would compile its code while it is being measured. */
export async function measureInTurns(
  stand: Stand,
  { seconds, rounds, connections, countMax }: Rounds,
  {
    subjects,
    warmUp = subjects,
  }: { readonly subjects: readonly Subject[]; readonly warmUp?: readonly Subject[] },
): Promise<readonly Measured[]> {
  const busiest = { concurrency: Math.max(...connections), countMax, seconds: seconds * 1.5 };
  for (const subject of warmUp) await measure(subject, busiest, stand);
  const measured: Measured[] = [];
  for (const concurrency of connections) {
    for (let round = 0; round < rounds; round += 1) {
      for (const subject of subjects)
        measured.push(await measure(subject, { concurrency, countMax, seconds }, stand));
    }
  }
  return measured;
}

interface Slice {
  readonly concurrency: number;
  readonly seconds: number;
  readonly countMax: number;
}

async function measure(subject: Subject, slice: Slice, stand: Stand): Promise<Measured> {
  const { name, title } = subject;
  const opened = subject.open(slice.concurrency);
  const cpu = await measureCpu(stand.pids);
  const run = await runLoad({ ...slice, once: (caller) => opened.once(caller) });
  const spent = await cpu.stop();
  await opened.close();
  await delay(settleMs);
  console.error(
    `${name} at ${slice.concurrency}: ${short(run.rate)}/s, p50 ${short(run.p50)} ms, failed ${run.failed} ${run.firstError ?? ''}`,
  );
  const pid = stand.pids[subject.process ?? ''];
  const perCall = Object.entries(spent).map(([of, ms]) => [of, ms / Math.max(1, run.count)]);
  return {
    name,
    title,
    run,
    cpu: Object.fromEntries(perCall),
    bytes: pid === undefined ? 0 : (await usageOf(pid)).bytes,
  };
}

export function middleOf(
  measured: readonly Measured[],
  name: string,
  concurrency: number,
): Measured | undefined {
  const runs = measured.filter((one) => one.name === name && one.run.concurrency === concurrency);
  if (runs.length === 0) return undefined;
  const middle = middleRun(runs.map(({ run }) => run));
  return runs.find(({ run }) => run === middle);
}

export function rowsOf(measured: readonly Measured[], concurrency: number, limit: string): Row[] {
  const most = middleOf(measured, limit, concurrency)?.run.rate;
  const names = [...new Set(measured.map(({ name }) => name))];
  return names
    .flatMap((name) => middleOf(measured, name, concurrency) ?? [])
    .map(({ title, run, cpu }) => ({
      connections: concurrency,
      subject: title,
      'rate /s': short(run.rate),
      'of the limit': most === undefined ? '' : percentOf(run.rate, most),
      'p50 ms': short(run.p50),
      'p90 ms': short(run.p90),
      'p99 ms': short(run.p99),
      count: run.count,
      failed: run.failed,
      ...Object.fromEntries(
        Object.entries(cpu)
          .filter(([, ms]) => ms >= cpuMsShown)
          .map(([process, ms]) => [`CPU ms: ${process}`, short(ms)]),
      ),
    }));
}

interface Compared {
  readonly title: string;
  readonly name: string;
  readonly limit: string;
  readonly goalShare: number;
}

export function reportShares(
  measured: readonly Measured[],
  { rounds, seconds, connections }: Rounds,
  { title, name, limit, goalShare }: Compared,
): Report {
  const goals = connections.flatMap((count): Goal[] => {
    const most = middleOf(measured, limit, count)?.run.rate;
    const rate = middleOf(measured, name, count)?.run.rate;
    if (most === undefined || rate === undefined) return [];
    return [
      {
        what: `${title} at ${count} connection(s)`,
        goal: `${goalShare * 100} % or more of the rate of ${limit}`,
        measured: percentOf(rate, most),
        met: rate / most >= goalShare,
      },
    ];
  });
  const rows = connections.flatMap((count) => rowsOf(measured, count, limit));
  return { setting: { rounds, seconds }, tables: [{ title, rows }], goals, raw: measured };
}

export function httpSubject({
  origin,
  calls,
  ...about
}: Omit<Subject, 'open'> & { readonly origin: string; readonly calls: readonly HttpCall[] }): Subject {
  return {
    ...about,
    open(connections) {
      const http = openConnections(origin, connections);
      return {
        async once(caller) {
          const call = calls[caller % calls.length];
          if (call === undefined) throw new Error('there is nothing to call');
          expectStatus(await http.call(caller, call), 200);
        },
        close: () => http.close(),
      };
    },
  };
}
