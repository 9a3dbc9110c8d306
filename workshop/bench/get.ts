import { loadavg } from 'node:os';

import { getJson, jsonHeaders, startBenchGateway } from './support/gateway.ts';
import type { BenchGateway } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import { middleRun, runLoad } from './support/load.ts';
import type { LoadResult } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { startProfiling } from './support/profile.ts';
import { percentOf, publish, short } from './support/report.ts';
import type { Goal, Row } from './support/report.ts';
import { openStand, waitUntil } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import { measureCpu } from './support/usage.ts';

/**
 * GET of finished tasks at 1, 16 and 64 connections, each of which asks for a task of its own, beside a bare Koa with the
 * MongoDB driver's `findOne` that answers with the same documents. Both run in a process each, take turns, and read
 * from the same server.
 */

const goalShare = 0.75;
const countMax = 400_000;

interface Subject {
  readonly name: 'bare' | 'gateway';
  readonly process: string;
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Slice {
  readonly ids: readonly string[];
  readonly concurrency: number;
  readonly seconds: number;
  readonly countMax: number;
}

interface Measured {
  readonly subject: Subject['name'];
  readonly run: LoadResult;
  /** CPU microseconds per call, by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

export async function benchGet(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const seconds = options.seconds ?? (options.quick ? 2 : 10);
  const rounds = options.rounds ?? (options.quick ? 1 : 5);
  const connections = options.connections ?? (options.quick ? [1, 16] : [1, 16, 64]);
  const stand = await openStand();
  try {
    const gateway = await startBenchGateway(stand, { profile: options.profile, accounts: 1 });
    const ids = await finishedTasks(gateway, Math.max(...connections));
    const subjects = await makeSubjects(stand, gateway, ids);
    const measured: Measured[] = [];
    const warmUps: Measured[] = [];
    const profiling = options.profile ? await startProfiling(stand, ['api']) : undefined;
    // As busy as they get: a process that was just started compiles its code while it is measured.
    const busiest = { concurrency: Math.max(...connections), countMax };
    for (const subject of subjects) {
      warmUps.push(await measure(subject, { ...busiest, ids, seconds: seconds * 1.5 }, stand));
    }
    for (const concurrency of connections) {
      const slice = { concurrency, ids, countMax: options.count ?? countMax };
      for (let round = 0; round < rounds; round += 1) {
        for (const subject of subjects) measured.push(await measure(subject, { ...slice, seconds }, stand));
      }
    }
    await gateway.close();
    const calls = [...warmUps, ...measured].filter(({ subject }) => subject === 'gateway');
    const profiles = (await profiling?.finish(calls.reduce((sum, { run }) => sum + run.count, 0))) ?? [];
    await publish(
      {
        name: 'get',
        command: options.command,
        setting: { mongodb: stand.mongoKind, rounds, seconds },
        tables: [
          {
            title: 'GET /v1/videos/generations/{id}',
            rows: connections.flatMap((count) => rowsOf(measured, count)),
          },
          ...profiles,
        ],
        goals: connections.map((count) => goalOf(measured, count)),
        raw: measured,
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

const pathOf = (id = ''): string => `/v1/videos/generations/${id}`;

async function makeSubjects(
  stand: Stand,
  gateway: BenchGateway,
  ids: readonly string[],
): Promise<readonly Subject[]> {
  const port = await stand.freePort();
  const origin = `http://127.0.0.1:${port}`;
  await stand.startProgram({
    name: 'bare',
    script: new URL('support/bare-get.ts', import.meta.url),
    args: [String(port), stand.mongodbUri, gateway.db.databaseName],
    probe: () => getJson(`${origin}${pathOf(ids[0])}`),
  });
  const [key = ''] = gateway.keys;
  return [
    { name: 'bare', process: 'bare', origin, headers: {} },
    {
      name: 'gateway',
      process: 'api',
      origin: gateway.url,
      headers: { authorization: `Bearer ${key}` },
    },
  ];
}

async function finishedTasks(gateway: BenchGateway, count: number): Promise<readonly string[]> {
  const [key = ''] = gateway.keys;
  const http = openConnections(gateway.url, 1);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const created = await http.call(0, {
      method: 'POST',
      path: '/v1/videos/generations',
      headers: jsonHeaders(key),
      body: gateway.videoBody('short'),
    });
    const { id } = JSON.parse(expectStatus(created, 200).body.toString('utf8')) as { id: string };
    ids.push(id);
  }
  await http.close();
  const tasks = gateway.db.collection<{ _id: string; status: string }>('tasks');
  const finished = { _id: { $in: ids }, status: 'succeeded' };
  await waitUntil('the tasks to be finished', async () => (await tasks.countDocuments(finished)) === count);
  return ids;
}

async function measure(subject: Subject, slice: Slice, stand: Stand): Promise<Measured> {
  const http = openConnections(subject.origin, slice.concurrency);
  const calls = slice.ids.map(
    (id) => ({ method: 'GET', path: pathOf(id), headers: subject.headers }) as const,
  );
  const cpu = await measureCpu(stand.pids);
  const run = await runLoad({
    ...slice,
    once: async (caller) => {
      const call = calls[caller];
      if (call === undefined) throw new Error(`no task for caller ${caller}`);
      expectStatus(await http.call(caller, call), 200);
    },
  });
  const spent = await cpu.stop();
  await http.close();
  console.error(
    `${subject.name} at ${slice.concurrency}: ${short(run.rate)}/s, p50 ${short(run.p50)} ms, failed ${run.failed} ${run.firstError ?? ''}`,
  );
  const micros = (name: string): number => ((spent[name] ?? 0) * 1000) / Math.max(1, run.count);
  return {
    subject: subject.name,
    run,
    cpu: { server: micros(subject.process), mongodb: micros('mongodb'), bench: micros('bench') },
  };
}

function middleOf(measured: readonly Measured[], subject: Subject['name'], concurrency: number): Measured {
  const runs = measured.filter((one) => one.subject === subject && one.run.concurrency === concurrency);
  const middle = middleRun(runs.map(({ run }) => run));
  const found = runs.find(({ run }) => run === middle);
  if (found === undefined) throw new Error(`${subject} was not measured at ${concurrency}`);
  return found;
}

function rowsOf(measured: readonly Measured[], concurrency: number): Row[] {
  const bare = middleOf(measured, 'bare', concurrency);
  return (['bare', 'gateway'] as const).map((name) => {
    const { run, cpu } = middleOf(measured, name, concurrency);
    return {
      connections: concurrency,
      subject: name === 'bare' ? 'bare Koa + findOne' : 'gateway',
      'rate /s': short(run.rate),
      'of the limit': percentOf(run.rate, bare.run.rate),
      'p50 ms': short(run.p50),
      'p90 ms': short(run.p90),
      'p99 ms': short(run.p99),
      count: run.count,
      failed: run.failed,
      'CPU µs per call: server': short(cpu['server'] ?? 0),
      mongodb: short(cpu['mongodb'] ?? 0),
      'load generator': short(cpu['bench'] ?? 0),
    };
  });
}

function goalOf(measured: readonly Measured[], concurrency: number): Goal {
  const bare = middleOf(measured, 'bare', concurrency).run.rate;
  const gateway = middleOf(measured, 'gateway', concurrency).run.rate;
  return {
    what: `GET at ${concurrency} connection(s)`,
    goal: `${goalShare * 100} % or more of the bare server's rate`,
    measured: percentOf(gateway, bare),
    met: gateway / bare >= goalShare,
  };
}
