import { setTimeout as delay } from 'node:timers/promises';
import { BSON } from 'mongodb';

import { openCreates, startBenchGateway, type BenchGateway } from './support/gateway.ts';
import { runLoad, type LoadResult } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { megabytes, short, type Report, type Row } from './support/report.ts';
import { waitUntil, type Stand } from '../stand/stand.ts';
import { usageOf, type Usage } from './support/usage.ts';

/**
 * Measures the resident memory of every process with 10,000 tasks in flight. The tasks have been submitted and render
 * indefinitely. The first tasks warm up the processes, so that memory used at startup is not attributed to tasks.
 */

const processes = ['api', 'worker', 'temporal', 'mongodb', 'simulator'] as const;
const warmUpTasks = 200;
const createSecondsMax = 7_200;
const submitSecondsMax = 7_200;
const quietSeconds = 20;
const sampleEveryMs = 500;
const promptCharacters = 200;

type Moment = Readonly<Record<string, Usage>>;

export async function benchMemory(options: BenchOptions, stand: Stand): Promise<Report> {
  const count = options.count ?? (options.quick ? 100 : 10_000);
  const connections = options.connections?.[0] ?? 64;
  const gateway = await startBenchGateway(stand, { profile: false });
  const started = await usages(stand);
  const stored = await storedRows(gateway);
  await createTasks(gateway, { count: Math.min(warmUpTasks, count), connections });
  await untilSubmitted(gateway);
  await delay(quietSeconds * 1000);
  const before = await usages(stand);
  const peaks = watchPeaks(stand);
  const run = await createTasks(gateway, { count, connections });
  const submittedAfter = await untilSubmitted(gateway);
  const full = await usages(stand);
  await delay(quietSeconds * 1000);
  const quiet = await usages(stand);
  const peak = peaks.stop();
  await gateway.close();
  return {
    setting: { tasks: count, connections },
    tables: [
      { title: 'Time', rows: timeRows(run, submittedAfter) },
      {
        title: `Resident memory with ${count} tasks in flight`,
        rows: processes.map((name) => rowOf(name, count, { started, before, full, quiet, peak })),
      },
      { title: 'Documents of an ended task with a callback and a prompt of 200 characters', rows: stored },
    ],
    goals: [],
    raw: { run, submittedAfter, started, before, full, quiet, peak },
  };
}

async function storedRows(gateway: BenchGateway): Promise<Row[]> {
  const creates = openCreates(gateway, 1);
  const short = JSON.parse(gateway.videoBody('short')) as { prompt: string };
  const prompt = short.prompt.padEnd(promptCharacters, ' boat');
  const body = JSON.stringify({ ...short, prompt, metadata: { callback_url: gateway.receiverUrl } });
  const id = await creates.create(0, body);
  await creates.close();
  // Wait for the exchanges too, because they are written last and in batches.
  for (const [name, state] of [
    ['tasks', { 'callback.state': 'delivered' }],
    ['exchanges', {}],
  ] as const) {
    const documents = gateway.db.collection<{ _id: string }>(name);
    await waitUntil(name, async () => (await documents.findOne({ _id: id, ...state })) !== null);
  }
  const rows: Row[] = [];
  for (const { name } of await gateway.db.listCollections().toArray()) {
    const documents = await gateway.db.collection(name).find().toArray();
    const own = documents.filter((document) => BSON.EJSON.stringify(document).includes(id));
    const bytes = own.reduce((sum, document) => sum + BSON.calculateObjectSize(document), 0);
    if (own.length > 0) rows.push({ collection: name, documents: own.length, bytes });
  }
  return rows;
}

async function createTasks(
  gateway: BenchGateway,
  { count, connections }: { readonly count: number; readonly connections: number },
): Promise<LoadResult> {
  const creates = openCreates(gateway, connections);
  const body = gateway.videoBody('long');
  const run = await runLoad({
    concurrency: connections,
    countMax: count,
    seconds: createSecondsMax,
    once: async (caller) => void (await creates.create(caller, body)),
  });
  await creates.close();
  console.error(
    `created ${run.count} in ${short(run.seconds)} s, failed ${run.failed} ${run.firstError ?? ''}`,
  );
  return run;
}

async function untilSubmitted({ db }: BenchGateway): Promise<number> {
  const tasks = db.collection<{ status: string; model: string }>('tasks');
  const startedAt = performance.now();
  await waitUntil(
    'every task to be submitted',
    async () => (await tasks.findOne({ model: 'long', status: 'pending' })) === null,
    { deadlineMs: submitSecondsMax * 1000, everyMs: 500 },
  );
  return (performance.now() - startedAt) / 1000;
}

async function usages({ pids }: Stand): Promise<Moment> {
  const entries = await Promise.all(processes.map(async (name) => [name, await usageOf(pids[name] ?? 0)]));
  return Object.fromEntries(entries) as Moment;
}

/** Samples the memory, because the kernel's peak value includes startup. */
function watchPeaks(stand: Stand) {
  const peak = new Map<string, number>();
  const timer = setInterval(() => {
    usages(stand).then(
      (moment) => {
        for (const name of processes) peak.set(name, Math.max(peak.get(name) ?? 0, moment[name]?.bytes ?? 0));
      },
      () => undefined,
    );
  }, sampleEveryMs);
  return {
    stop: (): Readonly<Record<string, number>> => {
      clearInterval(timer);
      return Object.fromEntries(peak);
    },
  };
}

function timeRows(run: LoadResult, submittedAfter: number): Row[] {
  return [
    {
      'tasks created': run.count,
      failed: run.failed,
      seconds: short(run.seconds),
      'creates /s': short(run.rate),
      'p50 ms': short(run.p50),
      'p99 ms': short(run.p99),
      'until the last is submitted, s': short(submittedAfter),
    },
  ];
}

interface Moments {
  readonly started: Moment;
  readonly before: Moment;
  readonly full: Moment;
  readonly quiet: Moment;
  readonly peak: Readonly<Record<string, number>>;
}

function rowOf(name: string, count: number, { started, before, full, quiet, peak }: Moments): Row {
  const at = (moment: Moment): number => moment[name]?.bytes ?? Number.NaN;
  return {
    process: name,
    'after its start': megabytes(at(started)),
    'warmed up': megabytes(at(before)),
    'all in flight': megabytes(at(full)),
    [`${quietSeconds} s later`]: megabytes(at(quiet)),
    peak: megabytes(peak[name] ?? Number.NaN),
    'per task': `${((at(quiet) - at(before)) / count / 1024).toFixed(1)} kB`,
  };
}
