import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Collection, Document } from 'mongodb';
import { dayMs } from '../../src/base/times.ts';
import { emptyHead, entryId, type EntryDocument } from '../../src/ledger/entry.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { taskDriver, firstRecord } from '../support/task-records.ts';
import { testLedgerKey, testSealing } from '../support/sealing.ts';
import { createTaskStore } from '../../src/store/tasks.ts';
import { hashTestEntry, heldText, settledText, useLedgerWorld } from './support.ts';

type Row = Document & { _id: string };
const world = useLedgerWorld('test_ledger_corpus');
const raw = (name: string): Collection<Row> => world.db.collection<Row>(name);

const unpaid: Readonly<Record<string, string>> = {
  key: 'the hold names the key that is charged',
  kind: 'says which routes show the task',
  model: 'the hold names the model',
  plan: 'decides where the task is sent; the prices are frozen in the hold',
  createdAt: 'a time that is shown',
  deadlineAt: 'ends the wait, and charges nothing',
  output: 'groups render times',
  hasCallback: 'decides whether a callback is sent',
  rev: 'guards writes; a wrong one stops the task, which operators see',
  stateSince: 'limits an exemption, which a state that needs none has not',
  attempts: 'the upstream’s story; what it cost is in the ledger',
  updatedAt: 'a time that is shown',
  completedAt: 'a time that is shown',
  traceId: 'names a trace',
  sort: 'sorts lists',
  parts: 'finds tasks by a part of their id',
  jobs: 'an index of upstream jobs',
  channel: 'the entry that ends the task names the channel',
  credential: 'names where the job was',
  upstreamId: 'names the job',
  error: 'words for the caller',
  end: 'counts ends for metrics',
  said: 'finds tasks by words of their errors',
  words: 'sealed, and so authenticated',
  links: 'sealed, and so authenticated',
  wait: 'says what the task waits for',
  waited: 'says what the task has waited for',
  costUnknown: 'of a record without a cost it says nothing',
  chargeEstimated: 'says where the charge came from; its basis is in the ledger',
  added: 'a field that nothing reads',
};

const unpaidOf: Readonly<Record<string, readonly string[]>> = {
  running: ['outcome'],
  gone: ['outcome', 'charge removed'],
};

interface Role {
  readonly name: string;
  readonly collection: 'ledger' | 'tasks';
  readonly id: string;
}

const roles: readonly Role[] = [
  { name: 'credit', collection: 'ledger', id: 'template/1' },
  { name: 'hold', collection: 'ledger', id: 'template/2' },
  { name: 'settle', collection: 'ledger', id: 'template/3' },
  { name: 'charge_extra', collection: 'ledger', id: 'template/4' },
  { name: 'refund', collection: 'ledger', id: 'template/5' },
  { name: 'release', collection: 'ledger', id: 'template/7' },
  { name: 'adjust', collection: 'ledger', id: 'template/8' },
  { name: 'paid', collection: 'tasks', id: 'paid' },
  { name: 'gone', collection: 'tasks', id: 'gone' },
  { name: 'running', collection: 'tasks', id: 'running' },
];

interface Books {
  readonly entries: readonly EntryDocument[];
  readonly tasks: readonly Row[];
}

let template: Books;

beforeAll(async () => {
  template = await makeTemplate();
  await clear();
});

afterEach(clear);

async function clear(): Promise<void> {
  for (const name of ['ledger', 'tasks']) await raw(name).deleteMany({});
}

async function makeTemplate(): Promise<Books> {
  const books = await world.openLedger();
  const account = 'template';
  const by = { key: 'k', model: 'm', endUser: 'user-1' };
  const terms = { account, amount: 100n, basis: heldText, overdraftLimit: 0n, by };
  const upstream = { model: 'm', channel: 'one', cost: 90n, unknown: 1 };
  await books.credit({ account, amount: 1000n, reference: 'start', note: 'paid by card' });
  await books.hold({ ...terms, task: 'paid' });
  await books.settle({ account, task: 'paid', held: 100n, amount: 130n, basis: settledText(130n), upstream });
  await books.refund({ account, task: 'paid', amount: 7n, note: 'a gift' });
  await books.hold({ ...terms, task: 'gone' });
  await books.release({ account, task: 'gone', held: 100n, note: 'the task has failed', upstream });
  await books.credit({ account, amount: -3n, reference: 'correction' });
  await books.hold({ ...terms, task: 'running' });
  const store = createTaskStore(world.db, Date.now, testSealing);
  const driver = taskDriver(store);
  for (const id of ['paid', 'gone', 'running']) {
    const createdAt = Date.now() - 3_600_000;
    await store.insert(firstRecord(id, { account, hold: 100n, createdAt }));
    await driver.accept(id);
  }
  const ended = { kind: 'ended', chargeEstimated: false, upstream } as const;
  await driver.polled('paid', {
    kind: 'succeeded',
    items: [{ url: 'https://files.example/a.mp4' }],
    facts: {},
  });
  await driver.step('paid', { ...ended, status: 'succeeded', charge: 130n });
  await driver.polled('gone', { kind: 'failed', code: 'x', message: 'y' });
  const error = { code: 'provider_error', message: 'z' } as const;
  await driver.step('gone', { ...ended, status: 'failed', charge: 0n, error });
  return {
    entries: await world.entries.find().sort({ seq: 1 }).toArray(),
    tasks: await raw('tasks').find({}, { useBigInt64: true }).toArray(),
  };
}

function copyOf(n: number): Books {
  const account = `account-${n}`;
  const named = (task: string): string => `${task}-${n}`;
  let prev_hash = emptyHead.hash;
  const entries = template.entries.map(({ task, ...entry }) => {
    const key = entry.key
      .replace(/^(paid|gone|running):/, (_all, name: string) => `${named(name)}:`)
      .replace(':template:', `:${account}:`);
    const copy = { ...entry, _id: entryId(account, entry.seq), account, key, prev_hash };
    const whole = task === undefined ? copy : { ...copy, task: named(task) };
    prev_hash = hashTestEntry(whole);
    return { ...whole, hash: prev_hash };
  });
  const tasks = template.tasks.map((task) => ({
    ...task,
    _id: named(task._id),
    account,
    jobs: [`one/up-${named(task._id)}`],
    sort: `${String(task['sort'])}-${n}`,
  }));
  return { entries, tasks };
}

interface Corruption {
  readonly name: string;
  readonly of: (document: Row) => Row | undefined;
}

function corruptionsOf(document: Row): Corruption[] {
  const ofFields = Object.keys(document).flatMap((field): Corruption[] => {
    const value: unknown = document[field];
    const put = (to: unknown) => (row: Row) => ({ ...row, [field]: to });
    const others: Corruption[] = [
      { name: `${field} changed`, of: (row) => put(otherThan(row[field]))(row) },
      { name: `${field} retyped`, of: put(typeof value === 'string' ? 7 : 'x') },
    ];
    if (field === '_id') return [{ name: '_id changed', of: (row) => ({ ...row, _id: `${row._id}x` }) }];
    const without = (row: Row): Row => {
      const kept = Object.entries(row).filter(([name]) => name !== field);
      return { ...Object.fromEntries(kept), _id: row._id };
    };
    return [{ name: `${field} removed`, of: without }, ...others];
  });
  return [
    ...ofFields,
    { name: 'added changed', of: (row) => ({ ...row, added: 1 }) },
    { name: 'document removed', of: () => undefined },
  ];
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number')
    return typeof value === 'bigint' ? value + 1n : value + 1;
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return value.length === 0 ? [1] : value.map(otherThan);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, otherThan(one)]));
}

function isListed({ name: role, collection }: Role, corruption: string): boolean {
  const [field = ''] = corruption.split(' ');
  const own = unpaidOf[role] ?? [];
  return collection === 'tasks' && (field in unpaid || own.includes(field) || own.includes(corruption));
}

const verify = () =>
  verifyLedger({
    db: world.db,
    key: testLedgerKey,
    // Run the check as if it were a day later, when temporary exemptions no longer apply.
    now: () => Date.now() + dayMs,
    holders: async (tasks) =>
      new Map(tasks.filter((task) => task.startsWith('running-')).map((task) => [task, 'workflow'])),
  });

it('a copy of the ledger has no violations', async () => {
  const { entries, tasks } = copyOf(0);
  await world.entries.insertMany([...entries]);
  await raw('tasks').insertMany([...tasks]);
  expect((await verify()).violations).toEqual([]);
});

let tried = 0;

describe.each(roles)('$name in $collection', (role) => {
  it('each corruption is found, or is listed with the reason why not', async () => {
    const { entries, tasks } = template;
    const all: readonly { readonly _id: string }[] = [...entries, ...tasks];
    const document = all.find(({ _id: id }) => id === role.id);
    if (document === undefined) throw new Error(`no document ${role.id}`);
    const corruptions = corruptionsOf({ ...document });
    const place = all.indexOf(document);
    const rows = corruptions.flatMap(({ of }, n) => {
      const books = copyOf(n);
      return [...books.entries, ...books.tasks].map((row, at) => ({
        collection: at < entries.length ? 'ledger' : 'tasks',
        row: at === place ? of({ ...row }) : { ...row },
      }));
    });
    for (const name of ['ledger', 'tasks']) {
      const stored = rows.flatMap(({ collection, row }) => (collection === name && row ? [row] : []));
      await raw(name).insertMany(stored);
    }
    const { violations } = await verify();
    const named = violations.flatMap((violation) => [
      ...JSON.stringify(Object.values(violation)).matchAll(/-(\d+)\b/g),
    ]);
    const found = new Set(named.map(([, n]) => Number(n)));
    const missed = corruptions.flatMap(({ name }, n) => (found.has(n) ? [] : [name]));
    expect(missed.filter((name) => !isListed(role, name))).toEqual([]);
    tried += corruptions.length;
  });
});

it('there are many corruptions, and those that are not found concern fields of a record', () => {
  expect(tried).toBeGreaterThan(300);
  const fields = new Set(['added', ...template.tasks.flatMap((task) => Object.keys(task))]);
  expect(Object.keys(unpaid).filter((field) => !fields.has(field))).toEqual([]);
});
