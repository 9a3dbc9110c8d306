import type { Collection } from 'mongodb';
import { sortKey } from '../../src/store/task-document.ts';
import { openCreates, startBenchGateway, type BenchGateway } from './support/gateway.ts';
import { expectStatus, openConnections, type HttpConnections } from './support/http-connections.ts';
import { runLoad, type LoadResult } from './support/load.ts';
import type { BenchOptions } from './support/options.ts';
import { short, type Report } from './support/report.ts';
import { waitUntil, type Stand } from '../stand/stand.ts';

/**
 * Measures the reads of the console and of /account with many tasks. Records of finished tasks are written straight
 * into MongoDB, and then one caller repeats each read. Some accounts, keys and channels have far more tasks than
 * others, and a few tasks wait for an operator.
 */

const goalMs = { p50: 50, p99: 200 };
const batch = 2_000;
const defaultCounts = { mongod: 1_000_000, java: 100_000 };
const accounts = 500;
const channels = 12;
const oneInFailed = 25;
const oneInAsking = 5_000;
const spacingMs = 1_000;

interface TaskRow {
  readonly _id: string;
  readonly [field: string]: unknown;
}

export async function benchConsole(options: BenchOptions, stand: Stand): Promise<Report> {
  const count = options.count ?? (options.quick ? 2_000 : defaultCounts[stand.mongoKind]);
  const gateway = await startBenchGateway(stand, { profile: options.profile, accounts: 1 });
  const http = openConnections(gateway.url, 1);
  const finished = await finishedTask(gateway);
  await seed(gateway.db.collection<TaskRow>('tasks'), { finished, count });
  const runs: (readonly [string, LoadResult])[] = [];
  for (const path of readsOf(finished, count)) {
    runs.push([
      path,
      await measure(path, { gateway, http, rounds: options.rounds ?? (options.quick ? 3 : 30) }),
    ]);
  }
  await Promise.all([http.close(), gateway.close()]);
  return {
    setting: { tasks: count },
    tables: [
      {
        title: `Reads with ${count.toLocaleString('en')} tasks`,
        rows: runs.map(([path, { p50, p99 }]) => ({
          read: path,
          'p50 ms': short(p50),
          'p99 ms': short(p99),
        })),
      },
    ],
    goals: runs.map(([path, { p50, p99 }]) => ({
      what: path,
      goal: `≤ ${goalMs.p50} ms at p50, ≤ ${goalMs.p99} ms at p99`,
      measured: `${short(p50)} and ${short(p99)} ms`,
      met: p50 <= goalMs.p50 && p99 <= goalMs.p99,
    })),
    raw: runs,
  };
}

async function finishedTask(gateway: BenchGateway): Promise<TaskRow> {
  const creates = openCreates(gateway, 1);
  const id = await creates.create(0, gateway.videoBody('short'));
  await creates.close();
  const tasks = gateway.db.collection<TaskRow>('tasks');
  const ended = () => tasks.findOne({ _id: id, status: 'succeeded' });
  await waitUntil('a finished task', async () => (await ended()) !== null);
  const task = await ended();
  if (task === null) throw new Error(`task ${id} has not succeeded`);
  return task;
}

async function seed(
  tasks: Collection<TaskRow>,
  { finished, count }: { readonly finished: TaskRow; readonly count: number },
): Promise<void> {
  const newest = Date.now();
  for (let from = 0; from < count; from += batch) {
    const rows = Array.from({ length: Math.min(batch, count - from) }, (_, n) =>
      rowOf(finished, from + n, newest),
    );
    await tasks.insertMany(rows, { ordered: false });
  }
}

function rowOf(finished: TaskRow, n: number, newest: number): TaskRow {
  const { account: own, key: ownKey, error: _error, attention: _attention, end: _end, ...usual } = finished;
  const id = `task_${String(n).padStart(22, '0')}`;
  const createdAt = newest - n * spacingMs;
  const account = Math.floor(accounts * (((n * 7_919) % 10_007) / 10_007) ** 3);
  const channel = `channel-${n % channels}`;
  const operation = { id: `upstream-job-${n}` };
  return {
    ...usual,
    _id: id,
    sort: sortKey(createdAt, id),
    account: account === 0 ? own : `seeded-${account}`,
    key: account === 0 && n % 3 === 0 ? ownKey : `key_${account}_${n % 3}`,
    model: n % 100_000 === 99 ? 'rare' : `model-${n % 9}`,
    channel,
    upstreamId: operation.id,
    jobs: [`${channel}/${operation.id}`],
    attempts: [
      {
        n: 1,
        state: 'accepted',
        channel,
        credential: 'a',
        marker: `m-${n}`,
        operation,
        startedAt: createdAt,
      },
    ],
    requestId: `request-${n}`,
    createdAt,
    ...endOf(n, id, createdAt),
  };
}

function endOf(n: number, id: string, createdAt: number): object {
  if (n % oneInAsking === 1) return { status: 'running', attention: 'submit_ambiguous' };
  const at = createdAt + spacingMs;
  const isFailed = n % oneInFailed === 0;
  const error = { code: 'upstream_error', message: '', class: 'internal' };
  return {
    completedAt: at,
    ...(isFailed ? { status: 'failed', error } : {}),
    end: {
      sort: sortKey(at, id),
      ...(isFailed ? { kind: 'internal' } : { kind: 'succeeded', lateMs: n % 9_000 }),
    },
  };
}

export function readsOf({ _id: id }: Pick<TaskRow, '_id'>, count: number): string[] {
  const middle = `task_${String(Math.floor(count / 2)).padStart(22, '0')}`;
  const anHourAgo = Math.floor(Date.now() / 1000) - 3_600;
  const lists = [
    '',
    `after=${middle}`,
    'status=succeeded',
    'status=running',
    'needs_attention=true',
    'attention=submit_ambiguous&channel=channel-1',
    'class=internal',
    'class=internal&channel=channel-0',
    'account=account-0',
    'account=seeded-400&status=failed',
    'account=account-0&model=model-1',
    'key=key_0_1',
    'key=key_400_1',
    'model=model-3',
    'model=rare',
    'channel=channel-2',
    'callback_failed=true',
    `created_after=${anHourAgo}`,
    `created_after=${anHourAgo}&status=failed`,
    `ended_after=${anHourAgo}&status=succeeded`,
    `ended_after=${anHourAgo}&class=internal`,
  ];
  const ofOperators = [
    'overview',
    ...['hour', 'day', 'week'].map((span) => `trends?span=${span}`),
    'trends?span=week&by=model&channel=channel-1',
    'margin?by=day,channel',
    'margin?by=account,end_user',
    ...lists.map((query) => `tasks?limit=50${query === '' ? '' : `&${query}`}`),
    'find?text=upstream-job-77',
    'find?text=nothing-there',
    'task-filters',
    `tasks/${id}`,
    `tasks/${id}/record`,
    `tasks/${id}/price`,
    'accounts?limit=50',
    'accounts/account-0',
    'accounts/account-0/ledger?limit=50&order=newest',
    'keys?account=account-0&limit=100',
    'channels',
    'models',
    'config',
    'audit?limit=50',
  ];
  const ofKeys = [
    'videos/generations?limit=50',
    'videos/generations?limit=50&status=failed',
    `videos/generations/${id}`,
    'callbacks?limit=50',
    'usage?by=day',
    'usage?by=model',
    'balance',
    'key',
    'models',
  ];
  return [...ofOperators.map((path) => `/admin/v1/${path}`), ...ofKeys.map((path) => `/v1/${path}`)];
}

interface Measuring {
  readonly gateway: BenchGateway;
  readonly http: HttpConnections;
  readonly rounds: number;
}

async function measure(path: string, { gateway, http, rounds }: Measuring): Promise<LoadResult> {
  const token = path.startsWith('/admin/') ? gateway.adminToken : gateway.keys[0];
  const headers = { authorization: `Bearer ${token}` };
  return runLoad({
    concurrency: 1,
    seconds: rounds,
    countMax: rounds,
    once: async () => {
      expectStatus(await http.call(0, { method: 'GET', path, headers }), 200);
    },
  });
}
