import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';

import type { emptyWorkflow, plainWorkflow } from './support/empty-workflow.ts';
import { linesGoal } from './support/lines-goal.ts';
import { jsonHeaders, startBenchGateway } from './support/gateway.ts';
import type { BenchGateway, RenderKind } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import { middleRun, runLoad } from './support/load.ts';
import type { LoadResult } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { startProfiling } from './support/profile.ts';
import { percentOf, publish, short, times } from './support/report.ts';
import type { Goal, Row } from './support/report.ts';
import { openStand, requirePoller, waitUntil } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import { measureCpu } from './support/usage.ts';

/**
 * POST /v1/videos/generations at 1, 16 and 64 connections, beside two things without HTTP: one document that is inserted
 * with majority and the plain start of an empty workflow, which no durable creation can do without; and the
 * Update-With-Start of an empty workflow, for which creates waited once. The subjects take turns. Nothing of one is
 * submitted while the next is measured; its jobs that render for long are asked about then.
 */

const goalShare = 0.6;
/** Of the median of an Update-With-Start, by connections. */
const goalTimes: Readonly<Record<number, number>> = { 1: 0.7, 64: 0.4 };
const countMax = 50_000;
const settleMs = 1_000;
const emptyQueue = 'bench-empty';

interface Subject {
  readonly name: string;
  readonly once: (caller: number) => Promise<void>;
  /** Resolves when nothing that it began is still at work. */
  readonly settled: () => Promise<void>;
}

interface Measured {
  readonly subject: string;
  readonly run: LoadResult;
  /** CPU milliseconds per call, by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

export async function benchCreate(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const seconds = options.seconds ?? (options.quick ? 2 : 10);
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const connections = options.connections ?? (options.quick ? [1, 16] : [1, 16, 64]);
  const stand = await openStand();
  try {
    const gateway = await startBenchGateway(stand, { profile: options.profile });
    await startEmptyWorker(stand);
    const profiling = options.profile ? await startProfiling(stand, ['api', 'worker']) : undefined;
    const measured: Measured[] = [];
    const warmUps: Measured[] = [];
    const subjectsAt = (concurrency: number, only = options.only) => {
      const http = openConnections(gateway.url, concurrency);
      const subjects = allSubjects(stand, gateway, http).filter(({ name }) => only?.includes(name) ?? true);
      return { http, subjects };
    };
    // As busy as they get: a process that was just started compiles its code while it is measured. Its tasks end: the
    // worker would ask about those of the others while the first slices are measured.
    const busiest = Math.max(...connections);
    const asked = withoutGateway.filter((name) => options.only?.includes(name) ?? true);
    const warmUp = subjectsAt(busiest, [...asked, subjectNames.short]);
    for (const subject of warmUp.subjects) {
      warmUps.push(await measure(subject, { concurrency: busiest, countMax, seconds: seconds * 1.5 }, stand));
    }
    await warmUp.http.close();
    for (const concurrency of connections) {
      const { http, subjects } = subjectsAt(concurrency);
      const slice = { concurrency, countMax: options.count ?? countMax };
      for (let round = 0; round < rounds; round += 1) {
        for (const subject of subjects) measured.push(await measure(subject, { ...slice, seconds }, stand));
      }
      await http.close();
    }
    await gateway.close();
    const calls = [...warmUps, ...measured]
      .filter(({ subject }) => !withoutGateway.includes(subject))
      .reduce((sum, { run }) => sum + run.count, 0);
    const profiles = (await profiling?.finish(calls)) ?? [];
    const rows = connections.flatMap((count) => rowsOf(measured, count));
    await publish(
      {
        name: 'create',
        command: options.command,
        setting: { mongodb: stand.mongoKind, rounds, seconds },
        tables: [{ title: 'POST /v1/videos/generations', rows }, ...profiles],
        goals: connections.flatMap((count) => goalsOf(measured, count)),
        raw: measured,
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

async function startEmptyWorker(stand: Stand): Promise<void> {
  await stand.startProgram({
    name: 'empty-worker',
    script: new URL('support/empty-worker.ts', import.meta.url),
    args: [stand.temporalAddress, emptyQueue],
    probe: () => requirePoller(stand, emptyQueue, 'workflow'),
  });
}

const subjectNames: Record<RenderKind, string> = {
  parked: 'admission',
  lines: 'lines',
  long: 'create',
  short: 'create-1s',
};
const limitName = 'limit';
const updateName = 'update';
const cappedName = 'capped';
/** Milliseconds of the median. */
const capsCostMax = 2;
const withoutGateway: readonly string[] = [limitName, updateName];

/** The words of the table. */
const titles: Readonly<Record<string, string>> = {
  limit: 'majority insert, plain start of an empty workflow, no HTTP',
  update: 'empty workflow, Update-With-Start, no HTTP',
  admission: 'create, admission alone (nobody submits)',
  capped: 'the same with caps of key, model and end user',
  lines: 'create, admission alone, with three price lines',
  create: 'create, render that does not end',
  'create-1s': 'create, render of 1 s, beside all that follows',
};

function allSubjects(
  stand: Stand,
  gateway: BenchGateway,
  http: ReturnType<typeof openConnections>,
): readonly Subject[] {
  return [
    { name: limitName, once: () => insertAndStart(stand, gateway), settled: () => emptyQueueSettled(stand) },
    { name: updateName, once: () => updateWithStart(stand), settled: () => emptyQueueSettled(stand) },
    createSubject('parked', gateway, http),
    createSubject('lines', gateway, http),
    cappedSubject(gateway, http),
    ...(['long', 'short'] as const).map((kind) => createSubject(kind, gateway, http)),
  ];
}

async function insertAndStart({ temporal }: Stand, { db }: BenchGateway): Promise<void> {
  const workflowId = randomUUID();
  const majority = { writeConcern: { w: 'majority' } } as const;
  await db.collection<{ _id: string }>('bench_limit').insertOne({ _id: workflowId }, majority);
  await temporal.workflow.start<typeof plainWorkflow>('plainWorkflow', {
    workflowId,
    taskQueue: emptyQueue,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

/** Workflows are started faster than one worker runs them: what is left would be measured with the next subject. */
async function emptyQueueSettled({ temporal }: Stand): Promise<void> {
  // A list of open workflows is behind by up to a second.
  await delay(settleMs);
  await waitUntil(
    'the empty workflows to end',
    async () => {
      const open = `TaskQueue = "${emptyQueue}" AND ExecutionStatus = "Running"`;
      return (await temporal.workflow.count(open)).count === 0;
    },
    { deadlineMs: 600_000, everyMs: 1_000 },
  );
  await delay(settleMs);
}

async function updateWithStart({ temporal }: Stand): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof emptyWorkflow>('emptyWorkflow', {
    workflowId: randomUUID(),
    taskQueue: emptyQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
  await temporal.workflow.executeUpdateWithStart('admit', { startWorkflowOperation, updateId: 'admit' });
}

function createSubject(
  kind: RenderKind,
  gateway: BenchGateway,
  http: ReturnType<typeof openConnections>,
): Subject {
  const body = gateway.videoBody(kind);
  const headers = gateway.keys.map((key) => jsonHeaders(key));
  const tasks = gateway.db.collection<{ status: string; model: string }>('tasks');
  const waitingFor = { short: ['pending', 'submitted', 'running'], long: ['pending'], parked: [], lines: [] }[
    kind
  ];
  return {
    name: subjectNames[kind],
    once: async (caller) => {
      const answer = await http.call(caller, {
        method: 'POST',
        path: '/v1/videos/generations',
        headers: headers[caller % headers.length] ?? {},
        body,
      });
      expectStatus(answer, 200);
    },
    settled: async () => {
      await waitUntil(
        `the tasks of ${subjectNames[kind]} to settle`,
        async () => (await tasks.findOne({ model: kind, status: { $in: waitingFor } })) === null,
        { deadlineMs: 600_000, everyMs: 1_000 },
      );
      await delay(settleMs);
    },
  };
}

const endUsers = 1_000;

/** The same as admission, by keys with caps, each time for another end user, who has caps as well. */
function cappedSubject(gateway: BenchGateway, http: ReturnType<typeof openConnections>): Subject {
  const headers = gateway.cappedKeys.map((key) => jsonHeaders(key));
  const { settled } = createSubject('parked', gateway, http);
  let calls = 0;
  return {
    name: cappedName,
    once: async (caller) => {
      calls += 1;
      const answer = await http.call(caller, {
        method: 'POST',
        path: '/v1/videos/generations',
        headers: headers[caller % headers.length] ?? {},
        body: gateway.videoBody('parked', { metadata: { safety_identifier: `user-${calls % endUsers}` } }),
      });
      expectStatus(answer, 200);
    },
    settled,
  };
}

async function measure(
  subject: Subject,
  slice: { readonly concurrency: number; readonly seconds: number; readonly countMax: number },
  stand: Stand,
): Promise<Measured> {
  const cpu = await measureCpu(stand.pids);
  const run = await runLoad({ ...slice, once: subject.once });
  const spent = await cpu.stop();
  await subject.settled();
  console.error(
    `${subject.name} at ${slice.concurrency}: ${short(run.rate)}/s, p50 ${short(run.p50)} ms, failed ${run.failed} ${run.firstError ?? ''}`,
  );
  return {
    subject: subject.name,
    run,
    cpu: Object.fromEntries(Object.entries(spent).map(([name, ms]) => [name, ms / Math.max(1, run.count)])),
  };
}

function middleOf(measured: readonly Measured[], subject: string, concurrency: number): Measured | undefined {
  const runs = measured.filter((one) => one.subject === subject && one.run.concurrency === concurrency);
  if (runs.length === 0) return undefined;
  const middle = middleRun(runs.map(({ run }) => run));
  return runs.find(({ run }) => run === middle);
}

function rowsOf(measured: readonly Measured[], concurrency: number): Row[] {
  const limit = middleOf(measured, limitName, concurrency);
  return Object.keys(titles).flatMap((subject) => {
    const middle = middleOf(measured, subject, concurrency);
    if (middle === undefined) return [];
    const { run, cpu } = middle;
    return [
      {
        connections: concurrency,
        subject: titles[subject] ?? subject,
        'rate /s': short(run.rate),
        'of the limit': limit === undefined ? '' : percentOf(run.rate, limit.run.rate),
        'p50 ms': short(run.p50),
        'p90 ms': short(run.p90),
        'p99 ms': short(run.p99),
        count: run.count,
        failed: run.failed,
        'CPU ms per call: temporal': short(cpu['temporal'] ?? 0),
        mongodb: short(cpu['mongodb'] ?? 0),
        api: short(cpu['api'] ?? 0),
        worker: short(cpu[withoutGateway.includes(subject) ? 'empty-worker' : 'worker'] ?? 0),
      },
    ];
  });
}

function goalsOf(measured: readonly Measured[], concurrency: number): Goal[] {
  const limit = middleOf(measured, limitName, concurrency);
  const update = middleOf(measured, updateName, concurrency);
  const create = middleOf(measured, subjectNames.long, concurrency);
  const most = goalTimes[concurrency];
  const cpuOf = (subject: string) =>
    measured
      .filter((one) => one.subject === subject && one.run.concurrency === concurrency)
      .map(({ cpu }) => cpu['api'] ?? 0);
  const caps = [
    ...capsGoal(measured, concurrency),
    ...linesGoal(cpuOf(subjectNames.parked), cpuOf(subjectNames.lines), concurrency),
  ];
  if (create === undefined) return caps;
  const what = `create at ${concurrency} connection(s)`;
  const rate = limit && {
    what,
    goal: `${goalShare * 100} % or more of the limit's rate`,
    measured: percentOf(create.run.rate, limit.run.rate),
    met: create.run.rate / limit.run.rate >= goalShare,
  };
  const median = update &&
    most !== undefined && {
      what: `${what}, p50`,
      goal: `${most} × or less of an Update-With-Start's`,
      measured: times(create.run.p50, update.run.p50),
      met: create.run.p50 / update.run.p50 <= most,
    };
  return [...[rate, median].filter((goal) => typeof goal === 'object'), ...caps];
}

function capsGoal(measured: readonly Measured[], concurrency: number): Goal[] {
  const without = middleOf(measured, subjectNames.parked, concurrency)?.run.p50;
  const capped = middleOf(measured, cappedName, concurrency)?.run.p50;
  if (without === undefined || capped === undefined) return [];
  const moreMs = capped - without;
  const what = `caps, p50 of a create at ${concurrency} connection(s)`;
  return [
    {
      what,
      goal: `at most ${capsCostMax} ms more`,
      measured: `${short(moreMs)} ms`,
      met: moreMs <= capsCostMax,
    },
  ];
}
