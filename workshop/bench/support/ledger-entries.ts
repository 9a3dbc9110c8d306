import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import type { PriceBasis } from '../../../src/money/price.ts';
import { settle } from '../../../src/money/settle.ts';
import { ledgerCollection } from '../../../src/ledger/collection.ts';
import { createEntryHash, emptyHead, type EntryDocument, type Head } from '../../../src/ledger/entry.ts';
import { creditOperation, holdOperation, settleOperation } from '../../../src/ledger/operation.ts';
import type { Operation } from '../../../src/ledger/operation.ts';
import { planBatch, scopesOfBatch } from '../../../src/ledger/plan.ts';
import { nothingSpent, type Spent } from '../../../src/ledger/spent.ts';
import { toDocument, type TaskDocument } from '../../../src/store/task-document.ts';
import type { Task } from '../../../src/task/record.ts';

export const benchKey = Buffer.alloc(32, 'bench');

const lines = Array.from({ length: 6 }, (_, n) => ({
  measure: 'second' as const,
  price: '0.00001',
  when: { resolution: [`${480 + n}p`] },
}));
const prices: PriceBasis = {
  price: { minimum: '0', lines: [...lines, { measure: 'second', price: '0.00001' }] },
  facts: { mode: 'pro', duration: 10 },
  version: 'bench',
};
/** A price basis of realistic length, as frozen at creation. It charges 10 micro-units per second. */
export const heldBasis = JSON.stringify(prices);
const settlement = settle({ basis: prices, channel: 'one', facts: { durationSeconds: 7 }, held: 100n });
export const settledBasis = JSON.stringify({ ...settlement, amount: settlement.amount.toString() });

export function rawEntry(process: string, n: number): EntryDocument {
  const id = `${process}/${n}`;
  const amounts = { amount: 100n, available: 100n, held: 100n };
  const text = {
    basis: n % 2 === 0 ? heldBasis : settledBasis,
    hash: emptyHead.hash,
    prev_hash: emptyHead.hash,
  };
  return {
    _id: id,
    account: process,
    seq: BigInt(n),
    key: id,
    kind: 'hold',
    task: id,
    at: 1,
    ...amounts,
    ...text,
  };
}

const tasksAtOnce = 500;
const endUsers = 200;
const taskEveryMs = 5_000;
const begin = Date.parse('2026-10-01T00:00:00Z');

export async function fillLedger(
  db: Db,
  {
    accounts,
    entries,
    key,
  }: { readonly accounts: number; readonly entries: number; readonly key: Uint8Array },
): Promise<number> {
  const hash = createEntryHash(key);
  const tasksOfEach = Math.ceil(entries / accounts / 2);
  const records = db.collection<TaskDocument>('tasks');
  let written = 0;
  for (let a = 0; a < accounts; a += 1) {
    const account = `v${a}`;
    const sums = new Map<string, Spent>();
    let head: Head = emptyHead;
    const append = async (operations: readonly Operation[], at: number): Promise<void> => {
      const scopes = [...scopesOfBatch(operations, new Map())];
      const spent = new Map(scopes.map((scope) => [scope, sums.get(scope) ?? nothingSpent(scope)]));
      const plan = planBatch(operations, { head, known: new Map(), spent, at, hash });
      for (const sum of plan.entries.flatMap((entry) => entry.spent ?? [])) sums.set(sum.scope, sum);
      head = plan.entries.at(-1) ?? head;
      written += plan.entries.length;
      await ledgerCollection(db).insertMany([...plan.entries]);
    };
    await append([creditOperation({ account, amount: 10n ** 12n, reference: 'start' })], begin);
    for (let from = 0; from < tasksOfEach; from += tasksAtOnce) {
      const count = Math.min(tasksAtOnce, tasksOfEach - from);
      const tasks = Array.from({ length: count }, (_, n) => taskOf(account, from + n));
      await Promise.all([
        append(tasks.flatMap(operationsOf), begin + from * taskEveryMs),
        records.insertMany(tasks.map(recordOf)),
      ]);
    }
  }
  return written;
}

interface BenchTask {
  readonly account: string;
  readonly id: string;
  readonly n: number;
}

function taskOf(account: string, n: number): BenchTask {
  // Random ids, as in production, so that neither the ledger nor the records are sorted by id.
  const random = createHash('sha256').update(`${account}/${n}`).digest('hex').slice(0, 24);
  return { account, id: `task_${random}`, n };
}

const upstream = { model: 'short', channel: 'ark', cost: 35n, unknown: 0 };

function operationsOf({ account, id: task, n }: BenchTask): Operation[] {
  const by = { key: `key_${n % 3}`, model: 'short', endUser: `user-${n % endUsers}` };
  return [
    holdOperation({ account, task, by, amount: 100n, basis: heldBasis, overdraftLimit: 0n }),
    settleOperation({ account, task, held: 100n, amount: 70n, basis: settledBasis, upstream }),
  ];
}

function recordOf({ account, id, n }: BenchTask): TaskDocument {
  const money = { hold: 100n, charge: 70n, cost: upstream.cost, costUnknown: 0 };
  const at = begin + n * taskEveryMs;
  return toDocument(endedTask({ id, account, model: 'short', at, job: `job-${id}`, money }));
}

interface EndedTask extends Pick<Task, 'id' | 'account' | 'model'> {
  readonly at: number;
  readonly job: string;
  readonly money: Pick<Task, 'hold' | 'charge' | 'cost' | 'costUnknown'>;
}

function endedTask({ at, job, money, ...named }: EndedTask): Task {
  const candidate = { channel: 'ark', credential: 'a' };
  const attempt = {
    n: 1,
    ...candidate,
    marker: `m-${job}`,
    owner: 'bench',
    startedAt: at,
    endedAt: at + 100,
  };
  return {
    ...named,
    ...money,
    key: 'key',
    kind: 'video',
    plan: { candidates: [candidate] },
    createdAt: at,
    deadlineAt: at + 3_600_000,
    output: '720p/5',
    hasCallback: false,
    rev: 4,
    state: { at: 'ended' },
    stateSince: at + 60_000,
    status: 'succeeded',
    attempts: [{ ...attempt, state: 'accepted', operation: { id: job } }],
    outcome: {
      kind: 'succeeded',
      items: [{ url: 'https://media.example/1.mp4' }],
      facts: { durationSeconds: 5, resolution: '720p' },
      cost: { amount: '0.35', unit: 'USD' },
    },
    updatedAt: at + 60_000,
    completedAt: at + 60_000,
    traceId: '',
  };
}
