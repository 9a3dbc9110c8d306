import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { MongoClient } from 'mongodb';

import { jsonHeaders, shortRenderSeconds, simulatorKey, startBenchGateway } from './support/gateway.ts';
import type { BenchGateway } from './support/gateway.ts';
import { expectStatus, openConnections } from './support/http-connections.ts';
import type { HttpConnections } from './support/http-connections.ts';
import { middleRun, runLoad } from './support/load.ts';
import type { LoadResult } from './support/load.ts';
import type { naiveTask } from './support/naive-workflow.ts';
import type { BenchOptions } from './support/options.ts';
import { startProfiling } from './support/profile.ts';
import { publish, short, times } from './support/report.ts';
import type { Goal, Row } from './support/report.ts';
import { openStand, requirePoller, waitUntil } from './support/stand.ts';
import type { Stand } from './support/stand.ts';
import { measureCpu } from './support/usage.ts';

/**
 * Tasks completed a second with a render of 1 s, beside a naive workflow: six activities, two timers, the same
 * upstream, writes of the same facts. With and without a callback to the caller. The gateway's tasks come in over
 * HTTP; the naive ones are started by a Temporal client, which spares them the API.
 */

const goalFactors = { plain: 1.8, callback: 1.4 };
const historyEventsMax = 18;
const secondsMax = 1_200;
const naiveQueue = 'bench-naive';
const naiveDatabase = 'naive';
const historiesRead = 10;

type SubjectName = 'naive' | 'gateway';

interface Subject {
  readonly name: SubjectName;
  readonly process: string;
  readonly db: Db;
  /** Starts a task and gives its id, which is its workflow's too. */
  start(slot: number, callback: boolean): Promise<string>;
}

interface Measured {
  readonly subject: SubjectName;
  readonly callback: boolean;
  readonly run: LoadResult;
  readonly cpu: Readonly<Record<string, number>>;
  readonly history: { readonly events: number; readonly bytes: number };
}

export async function benchTasks(options: BenchOptions): Promise<void> {
  const load = loadavg();
  const count = options.count ?? (options.quick ? 40 : 400);
  const inFlight = options.connections?.[0] ?? (options.quick ? 20 : 100);
  const rounds = options.rounds ?? (options.quick ? 1 : 3);
  const callbacks = [false, true].filter(
    (callback) => options.only?.includes(callback ? 'callback' : 'plain') ?? true,
  );
  const stand = await openStand();
  try {
    const gateway = await startBenchGateway(stand, { profile: options.profile });
    const mongo = await MongoClient.connect(stand.mongodbUri);
    const http = openConnections(gateway.url, inFlight);
    const subjects = [
      await naiveSubject(stand, gateway, mongo.db(naiveDatabase)),
      gatewaySubject(gateway, http),
    ];
    const measured: Measured[] = [];
    for (const subject of subjects) {
      await measure(subject, { count: inFlight, inFlight, callback: true }, stand);
    }
    const profiling = options.profile ? await startProfiling(stand, ['api', 'worker']) : undefined;
    for (const callback of callbacks) {
      for (let round = 0; round < rounds; round += 1) {
        for (const subject of subjects) {
          measured.push(await measure(subject, { count, inFlight, callback }, stand));
        }
      }
    }
    await Promise.all([http.close(), gateway.close(), mongo.close()]);
    const profiles = (await profiling?.finish(count * rounds * callbacks.length)) ?? [];
    await publish(
      {
        name: 'tasks',
        command: options.command,
        setting: { mongodb: stand.mongoKind, rounds, tasks: count, 'in flight': inFlight },
        tables: [
          {
            title: `Tasks with a render of ${shortRenderSeconds} s`,
            rows: callbacks.flatMap((callback) => rowsOf(measured, callback)),
          },
          ...profiles,
        ],
        goals: callbacks.flatMap((callback) => goalsOf(measured, callback)),
        raw: measured,
      },
      load,
    );
  } finally {
    await stand.close();
  }
}

async function naiveSubject(stand: Stand, gateway: BenchGateway, db: Db): Promise<Subject> {
  await stand.startProgram({
    name: 'naive-worker',
    script: new URL('support/naive-worker.ts', import.meta.url),
    args: [
      stand.temporalAddress,
      naiveQueue,
      stand.mongodbUri,
      naiveDatabase,
      gateway.simulatorUrl,
      simulatorKey,
    ],
    probe: () =>
      Promise.all([
        requirePoller(stand, naiveQueue, 'workflow'),
        requirePoller(stand, naiveQueue, 'activity'),
      ]),
  });
  return {
    name: 'naive',
    process: 'naive-worker',
    db,
    async start(slot, callback) {
      const task = `naive-${randomUUID()}`;
      await stand.temporal.workflow.start<typeof naiveTask>('naiveTask', {
        workflowId: task,
        taskQueue: naiveQueue,
        args: [
          {
            task,
            account: `account-${slot % gateway.keys.length}`,
            prompt: `a boat [sim:render=${shortRenderSeconds}]`,
            callbackUrl: callback ? gateway.receiverUrl : '',
          },
        ],
      });
      return task;
    },
  };
}

function gatewaySubject(gateway: BenchGateway, http: HttpConnections): Subject {
  const bodies = {
    plain: gateway.videoBody('short'),
    callback: gateway.videoBody('short', { metadata: { callback_url: gateway.receiverUrl } }),
  };
  return {
    name: 'gateway',
    process: 'worker',
    db: gateway.db,
    async start(slot, callback) {
      const answer = await http.call(slot, {
        method: 'POST',
        path: '/v1/videos/generations',
        headers: jsonHeaders(gateway.keys[slot % gateway.keys.length] ?? ''),
        body: callback ? bodies.callback : bodies.plain,
      });
      const { id } = JSON.parse(expectStatus(answer, 200).body.toString('utf8')) as { id: string };
      return id;
    },
  };
}

interface Slice {
  readonly count: number;
  readonly inFlight: number;
  readonly callback: boolean;
}

async function measure(
  subject: Subject,
  { count, inFlight, callback }: Slice,
  stand: Stand,
): Promise<Measured> {
  const endings = watchEndings(subject.db, callback);
  const ids: string[] = [];
  const cpu = await measureCpu(stand.pids);
  const run = await runLoad({
    concurrency: inFlight,
    countMax: count,
    seconds: secondsMax,
    once: async (slot) => {
      const id = await subject.start(slot, callback);
      ids.push(id);
      await endings.of(id);
    },
  });
  const spent = await cpu.stop();
  endings.close();
  console.error(
    `${subject.name}${callback ? ' with callback' : ''}: ${short(run.rate)} tasks/s, p50 ${short(run.p50)} ms, failed ${run.failed} ${run.firstError ?? ''}`,
  );
  return {
    subject: subject.name,
    callback,
    run,
    cpu: Object.fromEntries(Object.entries(spent).map(([name, ms]) => [name, ms / Math.max(1, run.count)])),
    history: await historyOf(ids.slice(0, historiesRead), stand),
  };
}

const lookEveryMs = 50;

/**
 * Tells when a task has ended, by one query for all that are open: both subjects write the task's status, and both
 * write down beside it that its callback was delivered, which comes last.
 */
function watchEndings(db: Db, callback: boolean) {
  const tasks = db.collection<{ _id: string; status: string; callback?: { state: string } }>('tasks');
  const open = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  let closed = false;
  const look = async (): Promise<void> => {
    const found = await tasks
      .find({ _id: { $in: [...open.keys()] } }, { projection: { _id: 1, status: 1, 'callback.state': 1 } })
      .toArray();
    for (const { _id, status, callback: told } of found) {
      if (callback ? told?.state !== 'delivered' : status !== 'succeeded' && status !== 'failed') continue;
      if (status === 'failed') open.get(_id)?.reject(new Error(`task ${_id} failed`));
      else open.get(_id)?.resolve();
      open.delete(_id);
    }
  };
  const run = async (): Promise<void> => {
    while (!closed) {
      await delay(lookEveryMs);
      if (open.size > 0) await look();
    }
  };
  run().catch((error: unknown) => {
    for (const { reject } of open.values()) reject(error instanceof Error ? error : new Error(String(error)));
  });
  return {
    of: (id: string) =>
      new Promise<void>((resolve, reject) => {
        open.set(id, { resolve, reject });
      }),
    close: () => {
      closed = true;
    },
  };
}

async function historyOf(ids: readonly string[], { temporal }: Stand) {
  let events = 0;
  let bytes = 0;
  for (const id of ids) {
    const handle = temporal.workflow.getHandle(id);
    await waitUntil(`workflow ${id} to end`, async () => (await handle.describe()).status.name !== 'RUNNING');
    const { historyLength, historySize } = await handle.describe();
    events += historyLength;
    bytes += historySize ?? 0;
  }
  return { events: events / ids.length, bytes: bytes / ids.length };
}

function middleOf(measured: readonly Measured[], subject: SubjectName, callback: boolean): Measured {
  const runs = measured.filter((one) => one.subject === subject && one.callback === callback);
  const middle = middleRun(runs.map(({ run }) => run));
  const found = runs.find(({ run }) => run === middle);
  if (found === undefined) throw new Error(`${subject} was not measured`);
  return found;
}

function rowsOf(measured: readonly Measured[], callback: boolean): Row[] {
  const naive = middleOf(measured, 'naive', callback);
  return (['naive', 'gateway'] as const).map((name) => {
    const { run, cpu, history } = middleOf(measured, name, callback);
    return {
      subject: name === 'naive' ? 'naive workflow' : 'gateway',
      callback: callback ? 'yes' : 'no',
      'tasks /s': short(run.rate),
      'of the naive': times(run.rate, naive.run.rate),
      'task p50 ms': short(run.p50),
      'task p99 ms': short(run.p99),
      count: run.count,
      failed: run.failed,
      'history events': short(history.events),
      'history bytes': history.bytes.toFixed(0),
      'CPU ms per task: temporal': short(cpu['temporal'] ?? 0),
      mongodb: short(cpu['mongodb'] ?? 0),
      api: short(cpu['api'] ?? 0),
      worker: short(cpu[name === 'naive' ? 'naive-worker' : 'worker'] ?? 0),
      'load generator': short(cpu['bench'] ?? 0),
    };
  });
}

function goalsOf(measured: readonly Measured[], callback: boolean): Goal[] {
  const naive = middleOf(measured, 'naive', callback);
  const gateway = middleOf(measured, 'gateway', callback);
  const words = callback ? 'with callback' : 'without callback';
  const goal = goalFactors[callback ? 'callback' : 'plain'];
  const factor = gateway.run.rate / naive.run.rate;
  return [
    {
      what: `tasks a second ${words}`,
      goal: `${goal} × or more of the naive workflow's`,
      measured: times(gateway.run.rate, naive.run.rate),
      met: factor >= goal,
    },
    {
      what: `history events of a task ${words}`,
      goal: `${historyEventsMax} or fewer`,
      measured: short(gateway.history.events),
      met: gateway.history.events <= historyEventsMax,
    },
  ];
}
