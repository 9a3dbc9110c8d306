import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Collection, Document } from 'mongodb';
import { ensureLedgerIndexes } from '../../src/ledger/collection.ts';
import { abandonedNote } from '../../src/money/ledger-basis.ts';
import { chainEntry, emptyHead, keys, type Head, type EntryDocument } from '../../src/ledger/entry.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { invariants } from '../../src/ledger/verify-account.ts';
import { dayMs, hourMs } from '../../src/base/times.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { hashTestEntry, heldText, settledText, useLedgerWorld } from './support.ts';

const seal = { at: 1, hash: hashTestEntry };

const world = useLedgerWorld('test_ledger_verify');
let ledger: Ledger;
let live: Set<string>;
const image = 'img_1';
const writtenAt = Date.now();

/** Untyped, so that tests can change documents as a user of the MongoDB shell can. */
const raw = (): Collection<Document & { _id: string }> => world.db.collection('ledger');
const tasks = (): Collection<Document & { _id: string }> => world.db.collection('tasks');

/** The ledger closes the hold of a task in this state before the record shows that the task has finished. */
const ending = { state: { at: 'ending' }, stateSince: Date.now() };
const record = { account: 'a', hold: 100n, state: { at: 'ended' } };

const verify = () =>
  verifyLedger({
    db: world.db,
    key: testLedgerKey,
    holders: async (asked) =>
      new Map(asked.filter((task) => live.has(task)).map((task) => [task, 'workflow'])),
  });

const verifyAt = async (now: number, holder: 'workflow' | 'lease' = 'workflow', more = {}) => {
  const holders = async (asked: readonly string[]) =>
    new Map(asked.filter((task) => live.has(task)).map((task) => [task, holder]));
  return (await verifyLedger({ db: world.db, key: testLedgerKey, holders, now: () => now, ...more }))
    .violations;
};

const invariantsBroken = async () => (await verify()).violations.map(({ invariant }) => invariant);

/**
 * The entries of account `a`: 1 is a credit, 2 the hold of t1, 3 the settlement of t1 (above its hold), 4 its
 * charge_extra, 5 the hold of t2, 6 the release of t2, and 7 the hold of t3, which is still running. The entries of
 * account `b`: 1 is a credit, 2 the hold of an image without a record, and 3 its settlement.
 */
beforeEach(async () => {
  // Each test has its own ledger, because caches must not outlive the documents.
  ledger = await world.openLedger({ now: () => writtenAt });
  live = new Set(['t3']);
  const hold = (account: string, task: string) =>
    ledger.hold({
      account,
      task,
      by: { key: 'key_1', model: 'video-1' },
      amount: 100n,
      basis: heldText,
      overdraftLimit: 0n,
    });
  await ledger.credit({ account: 'a', amount: 1000n, reference: 'start' });
  await hold('a', 't1');
  await ledger.settle({ account: 'a', task: 't1', held: 100n, amount: 130n, basis: settledText(130n) });
  await hold('a', 't2');
  await ledger.release({ account: 'a', task: 't2', held: 100n });
  await hold('a', 't3');
  await ledger.credit({ account: 'b', amount: 1000n, reference: 'start' });
  await hold('b', image);
  await ledger.settle({ account: 'b', task: image, held: 100n, amount: 80n, basis: settledText(80n) });
  await tasks().insertMany([
    { _id: 't1', ...record, status: 'succeeded', charge: 130n, outcome: { kind: 'succeeded' } },
    { _id: 't2', ...record, status: 'failed', charge: 0n },
    { _id: 't3', ...record, status: 'running', state: { at: 'waiting' } },
  ]);
});

afterEach(async () => {
  await raw().deleteMany({});
  await tasks().deleteMany({});
  await world.db.collection('ledger_heads').deleteMany({});
});

it('stops immediately when it is aborted, and reports why', async () => {
  const reason = new Error('nobody reads any more');
  const abort = new AbortController();
  const read: number[] = [];
  const verification = verifyLedger({
    db: world.db,
    key: testLedgerKey,
    signal: abort.signal,
    holders: async () => {
      abort.abort(reason);
      return new Map();
    },
    onProgress: ({ entries }) => void read.push(entries),
  });
  await expect(verification).rejects.toBe(reason);
  expect(read).toEqual([]);
});

const change = (id: string, fields: Document) => raw().updateOne({ _id: id }, { $set: fields });

async function reseal(id: string, fields: Partial<EntryDocument>): Promise<void> {
  const entry = await world.entries.findOne({ _id: id });
  if (entry === null) throw new Error(`no entry ${id}`);
  const changed = { ...entry, ...fields };
  await raw().replaceOne({ _id: id }, { ...changed, hash: hashTestEntry(changed) });
}

async function append(fields: Pick<EntryDocument, 'kind' | 'key' | 'amount'> & Partial<EntryDocument>) {
  const last = await world.entries.findOne({ account: 'a' }, { sort: { seq: -1 } });
  const change = { available: fields.available ?? 0n, held: fields.held ?? 0n };
  await world.entries.insertOne(chainEntry(last ?? emptyHead, { ...fields, account: 'a', ...change }, seal));
}

it("'spent_equals_entries': what a key has spent was lowered, and a close was moved to another key", async () => {
  const [hold] = await world.entries.find({ _id: 'a/5' }).toArray();
  const spent =
    hold?.spent?.map((sums) => ({
      ...sums,
      today: { ...sums.today, used: sums.today.used - 1n },
    })) ?? [];
  await reseal('a/5', { spent });
  await reseal('b/3', { key_id: 'key_2' });
  const found = (await verify()).violations.filter(({ invariant }) => invariant === 'spent_equals_entries');
  expect(found.map(({ message }) => message).toSorted()).toEqual([
    expect.stringMatching(
      /^a\/5: contains \S+ 229, 100, 230, 100, 230, 100 for key:key_1; the chain gives \S+ 230, 100, 230, 100, 230, 100$/,
    ),
    expect.stringMatching(/^a\/6: /),
    expect.stringMatching(/^b\/3: belongs to .*key_2.*, but its hold belongs to .*key_1/),
  ]);
});

it('a sound ledger has no violations', async () => {
  const progress: number[] = [];
  const result = await verifyLedger({
    db: world.db,
    key: testLedgerKey,
    holders: async () => new Map([...live].map((task) => [task, 'workflow'] as const)),
    onProgress: ({ entries }) => progress.push(entries),
  });
  expect(result).toEqual({
    accounts: 2,
    entries: 10,
    openHolds: { workflow: live.size, lease: 0, creation: 0 },
    violations: [],
    violationCount: 0,
  });
  expect(progress).toEqual([10]);
});

it('an empty ledger has no violations', async () => {
  await raw().deleteMany({});
  await tasks().deleteMany({});
  const openHolds = { workflow: 0, lease: 0, creation: 0 };
  expect(await verify()).toEqual({ openHolds, accounts: 0, entries: 0, violations: [], violationCount: 0 });
});

describe('balances_equal_chain', () => {
  it('an amount, a balance or a hold that was edited', async () => {
    await change('a/2', { amount: 99n });
    await change('b/3', { available: 921n });
    const { violations } = await verify();
    expect(violations).toContainEqual({
      invariant: 'balances_equal_chain',
      account: 'b',
      task: image,
      message: 'b/3: available 921, held 0; the chain gives 920 and 0',
    });
    expect(violations.map(({ invariant, account }) => `${account} ${invariant}`)).toEqual(
      expect.arrayContaining(['a balances_equal_chain', 'a hash_chain_intact', 'b hash_chain_intact']),
    );
  });

  it('a balance that was edited by someone who knows how to hash', async () => {
    await reseal('b/3', { available: 1000n });
    expect(await invariantsBroken()).toEqual(['balances_equal_chain']);
  });

  it('amounts that are doubles or strings are reported, and the check continues', async () => {
    await change('a/2', { available: 900.5 });
    await change('a/5', { amount: '100' });
    await change('a/7', { available: 769 });
    const messages = (await verify()).violations.map(({ message }) => message);
    expect(messages).toEqual(
      expect.arrayContaining([
        'a/2: available is not an int64',
        'a/5: amount is not an int64',
        'a/7: available is not an int64',
      ]),
    );
  });

  it('a release of an amount other than the hold, and a kind with the wrong sign', async () => {
    await reseal('a/6', { amount: 40n });
    await reseal('b/1', { kind: 'adjust' });
    const { violations } = await verify();
    expect(violations).toContainEqual(
      expect.objectContaining({ account: 'a', message: 'a/6: a release of 40 on a hold of 100' }),
    );
    expect(violations).toContainEqual(
      expect.objectContaining({ account: 'b', message: 'b/1: a adjust of 1000' }),
    );
  });

  it('an unknown kind', async () => {
    await change('a/6', { kind: 'bonus' });
    expect(await invariantsBroken()).toContain('balances_equal_chain');
  });
});

describe('sequence_without_gap', () => {
  it('an entry that was removed, first or in the middle', async () => {
    await raw().deleteOne({ _id: 'a/5' });
    await raw().deleteOne({ _id: 'b/1' });
    const gaps = (await verify()).violations.filter(({ invariant }) => invariant === 'sequence_without_gap');
    expect(gaps.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['a/6: seq 6 follows 4', 'b/2: seq 2 follows 0']),
    );
  });

  it('an entry whose seq differs from the one in its _id', async () => {
    await change('a/7', { seq: 9n });
    expect(await invariantsBroken()).toContain('sequence_without_gap');
  });

  it('entries cut off at the end are missing compared with the tasks', async () => {
    await raw().deleteMany({ _id: { $in: ['a/3', 'a/4', 'a/5', 'a/6', 'a/7'] } });
    expect((await invariantsBroken()).toSorted()).toEqual([
      'charged_is_succeeded',
      'terminal_task_is_closed',
      'unfinished_task_is_held',
    ]);
  });
});

describe('hash_chain_intact', () => {
  it.each([
    ['note', { note: 'written later' }],
    ['basis', { basis: '{"cheaper":true}' }],
    ['time', { at: 0 }],
    ['hash', { hash: '0'.repeat(64) }],
    ['previous hash', { prev_hash: '0'.repeat(64) }],
  ])('a %s that was edited', async (_name, fields) => {
    await change('a/5', fields);
    const broken = await invariantsBroken();
    expect(broken.length).toBeGreaterThan(0);
    const own = 'basis' in fields ? ['hash_chain_intact', 'charge_is_priced'] : ['hash_chain_intact'];
    expect(new Set(broken)).toEqual(new Set(own));
  });

  it('an entry that was rewritten and hashed again breaks the link to the next one', async () => {
    await reseal('a/5', { note: 'rewritten' });
    const { violations } = await verify();
    expect(violations).toEqual([
      {
        invariant: 'hash_chain_intact',
        account: 'a',
        task: 't2',
        message: 'a/6: prev_hash is not the hash of the previous entry',
      },
    ]);
  });
});

describe('one_hold_and_one_close', () => {
  it('a second hold of an open task', async () => {
    await append({
      kind: 'hold',
      key: 't3:again',
      task: 't3',
      amount: 5n,
      available: -5n,
      held: 5n,
      basis: heldText,
    });
    expect(await invariantsBroken()).toEqual(['one_hold_and_one_close', 'one_hold_and_one_close']);
  });

  it('a second close under another key', async () => {
    await append({ kind: 'release', key: 't1:release', task: 't1', amount: 100n });
    const { violations } = await verify();
    expect(violations.map(({ message }) => message)).toEqual([
      'a/8: a release with the key t1:release',
      'a/8: a release without an open hold',
    ]);
  });

  it('a ledger without the unique index that makes every operation happen once', async () => {
    await raw().dropIndex('key');
    const { violations } = await verify();
    await ensureLedgerIndexes(world.db);
    expect(violations).toEqual([
      { invariant: 'one_hold_and_one_close', message: 'the unique index on key is missing' },
    ]);
  });

  it('a credit without a reference, and a hold without a task', async () => {
    await append({ kind: 'credit', key: 'present', amount: 1n, available: 1n });
    await append({ kind: 'hold', key: 'nothing:hold', amount: 0n, basis: heldText });
    expect(await invariantsBroken()).toEqual(['one_hold_and_one_close', 'one_hold_and_one_close']);
  });
});

describe('settled_in_full', () => {
  it('a settle beyond its hold without a charge_extra', async () => {
    await reseal('b/3', { excess: 20n, basis: settledText(100n) });
    const { violations } = await verify();
    expect(violations).toEqual([
      {
        invariant: 'settled_in_full',
        account: 'b',
        task: image,
        message: `${image} is settled beyond its hold, but the excess of 20 was never charged`,
      },
    ]);
  });

  it('a charge_extra without a settle that explains it', async () => {
    await reseal('a/4', { amount: 31n });
    expect(await invariantsBroken()).toContain('settled_in_full');
  });
});

describe('charge_is_priced', () => {
  const account = 'b';
  it.each<[string, Partial<EntryDocument>, string]>([
    ['b/2', { basis: '' }, 'this hold contains no prices'],
    ['b/2', { basis: '{"price":{}}' }, 'this hold contains no prices'],
    ['b/3', { basis: '' }, 'charges 80, but its record does not explain the amount'],
    ['b/3', { basis: settledText(81n) }, 'charges 80, but the prices of its hold come to 81'],
  ])('%s with %o', async (id, fields, what) => {
    await reseal(id, fields);
    const { violations } = await verify();
    expect(violations).toContainEqual({
      invariant: 'charge_is_priced',
      account,
      task: image,
      message: `${id}: ${what}`,
    });
  });
});

describe('refunded_within_charge', () => {
  const refund = (task: string, amount: bigint, key = keys.refund(task)) =>
    append({ kind: 'refund', key, task, amount, available: amount });

  it('refunds made by the ledger itself are sound, and so is the charge that the task shows', async () => {
    expect(await ledger.refund({ account: 'a', task: 't1', amount: 130n })).toMatchObject({ ok: true });
    expect(await ledger.refund({ account: 'b', task: image, amount: 1n })).toMatchObject({ ok: true });
    expect((await verify()).violations).toEqual([]);
  });

  it.each([
    ['above the charge', 't1', 131n, 't1 was charged 130, but is refunded 131'],
    ['of a task that was released', 't2', 100n, 't2 is refunded 100, but was never settled'],
    ['of a task that is held', 't3', 1n, 't3 is refunded 1, but was never settled'],
    ['of a task that nobody knows', 't9', 1n, 't9 is refunded 1, but was never settled'],
    ['of what another account paid', image, 1n, 'img_1 is refunded, but was charged to account b'],
  ])('a refund %s', async (_, task, amount, message) => {
    await refund(task, amount);
    expect((await verify()).violations).toEqual([
      { invariant: 'refunded_within_charge', account: 'a', task, message },
    ]);
  });

  it('a refund that precedes its settle', async () => {
    await refund('t3', 1n);
    const later = await world.openLedger();
    await later.settle({ account: 'a', task: 't3', held: 100n, amount: 100n, basis: settledText(100n) });
    await tasks().updateOne({ _id: 't3' }, { $set: ending });
    expect(await invariantsBroken()).toEqual(['refunded_within_charge']);
  });

  it('a refund of nothing, and a second one under another key', async () => {
    await refund('t1', 0n);
    await refund('t1', 130n, 't1:again');
    const messages = (await verify()).violations.map(({ message }) => message);
    expect(messages).toEqual(['a/8: a refund of 0', 'a/9: a refund with the key t1:again']);
  });

  it('a refund that moves an amount other than its own', async () => {
    await append({ kind: 'refund', key: keys.refund('t1'), task: 't1', amount: 1n, available: 2n });
    expect(await invariantsBroken()).toEqual(['balances_equal_chain']);
  });
});

describe('ends_at_anchored_head', () => {
  const anchored = () => world.db.collection('ledger_heads').find().sort({ _id: 1 }).toArray();
  const anchoring = (anchorsHeads: boolean) =>
    verifyLedger({
      db: world.db,
      key: testLedgerKey,
      anchorsHeads,
      holders: async () => new Map([['t3', 'workflow']]),
    });

  it('a sound account is anchored at its head, once, and only by a verification that should anchor', async () => {
    await anchoring(false);
    expect(await anchored()).toEqual([]);
    await anchoring(true);
    await anchoring(true);
    expect(await anchored()).toMatchObject([
      { account: 'a', seq: 7n },
      { account: 'b', seq: 3n },
    ]);
  });

  it('an account with a violation is not anchored', async () => {
    await change('a/5', { note: 'edited' });
    await anchoring(true);
    expect(await anchored()).toMatchObject([{ account: 'b' }]);
  });

  it('entries after the head are sound, and each missing entry before it is reported', async () => {
    await anchoring(true);
    await append({ kind: 'credit', key: keys.credit('a', 'later'), amount: 1n, available: 1n });
    expect(await invariantsBroken()).toEqual([]);
    await raw().deleteMany({ account: 'b', seq: { $gt: 1n } });
    expect((await verify()).violations).toEqual([
      {
        invariant: 'ends_at_anchored_head',
        account: 'b',
        message: expect.stringMatching(/^b\/3: was the head on \d{4}-\d\d-\d\d, but is missing$/),
      },
    ]);
  });
});

describe('open_hold_is_live', () => {
  it('a hold that belongs to no workflow or lease', async () => {
    live = new Set();
    expect((await verify()).violations).toEqual([
      {
        invariant: 'open_hold_is_live',
        account: 'a',
        task: 't3',
        message: 't3 has an open hold that no workflow, lease or creation accounts for',
      },
    ]);
  });

  it('of a creation in progress is sound, but not after twenty minutes', async () => {
    const createdAt = Date.now();
    const tryId = `${String(createdAt).padStart(14, '0')}-x`;
    const before = await tasks().findOne({ _id: 't3' });
    await tasks().updateOne({ _id: 't3' }, { $set: { state: { at: 'creating', tryId } } });
    const check = (now: number) =>
      verifyLedger({ db: world.db, key: testLedgerKey, holders: async () => new Map(), now: () => now });
    expect(await check(createdAt + 19 * 60_000)).toMatchObject({
      violations: [],
      openHolds: { creation: 1 },
    });
    expect((await check(createdAt + 21 * 60_000)).violations).toMatchObject([{ task: 't3' }]);
    await tasks().updateOne({ _id: 't3' }, { $set: { state: before?.['state'] } });
  });

  it('a hold that is closed while the check runs is not reported', async () => {
    const { violations } = await verifyLedger({
      db: world.db,
      key: testLedgerKey,
      holders: async () => {
        // As usual, the record says `ending` before the ledger releases the hold.
        await tasks().updateOne({ _id: 't3' }, { $set: ending });
        await ledger.release({ account: 'a', task: 't3', held: 100n });
        return new Map();
      },
    });
    expect(violations).toEqual([]);
  });

  it('a hold of zero reserves nothing', async () => {
    await ledger.hold({
      account: 'a',
      task: 'free',
      by: { key: 'key_1', model: 'video-1' },
      amount: 0n,
      basis: heldText,
      overdraftLimit: 0n,
    });
    expect(await invariantsBroken()).toEqual([]);
  });
});

describe('unfinished_task_is_held', () => {
  const hold = () => ledger.void({ account: 'a', task: 't3' });

  it.each([
    ['its hold is closed by a release', hold],
    ['nothing is held for it', () => raw().deleteOne({ _id: 'a/7' })],
  ])('a running task: %s', async (what, corrupt) => {
    await corrupt();
    expect((await verify()).violations).toEqual([
      {
        invariant: 'unfinished_task_is_held',
        account: 'a',
        task: 't3',
        message: `t3 is running, but ${what}`,
      },
    ]);
  });

  const since = Date.now();
  const tryId = `${String(since).padStart(14, '0')}-x`;
  it.each<[string, Document, number]>([
    ['is being created', { status: 'pending', state: { at: 'creating', tryId } }, 20 * 60_000],
    ['was abandoned', { status: 'pending', state: { at: 'ended', abandoned: tryId } }, 20 * 60_000],
    ['is being ended', { ...ending, stateSince: since }, hourMs],
  ])('a task that %s needs none for a while', async (_, fields, whileMs) => {
    await hold();
    await tasks().updateOne({ _id: 't3' }, { $set: fields });
    const at = async (now: number) => (await verifyAt(now)).map(({ invariant }) => invariant);
    expect(await at(since + whileMs - 1)).toEqual([]);
    expect(await at(since + whileMs)).toEqual(['unfinished_task_is_held']);
    expect(await at(since - whileMs)).toEqual(['unfinished_task_is_held']);
  });

  it('a task that is being ended, and was never held', async () => {
    await raw().deleteOne({ _id: 'a/7' });
    await tasks().updateOne({ _id: 't3' }, { $set: ending });
    expect(await invariantsBroken()).toEqual(['unfinished_task_is_held']);
  });
});

it('terminal_task_is_closed: a task that ended but keeps its hold', async () => {
  await tasks().updateOne({ _id: 't3' }, { $set: { status: 'failed', state: { at: 'ended' } } });
  expect((await verify()).violations).toEqual([
    {
      invariant: 'terminal_task_is_closed',
      account: 'a',
      task: 't3',
      message: 't3 is failed, but its hold is still open',
    },
  ]);
});

describe('charged_is_succeeded', () => {
  it.each<[string, string, Document, string]>([
    [
      'a failed task that is charged',
      't1',
      { status: 'failed', charge: 0n },
      't1 has failed, but was settled for 130',
    ],
    ['a charge that differs', 't1', { charge: 129n }, 't1 shows 129, but the ledger says 130'],
    ['a task of another account', 't1', { account: 'b' }, 't1 belongs to account b'],
    [
      'a succeeded task that was released',
      't2',
      { status: 'succeeded', outcome: { kind: 'succeeded' } },
      't2 succeeded, but was released, and shows a charge of 0',
    ],
    ['a failed task that shows a charge', 't2', { charge: 7n }, 't2 has failed, but shows a charge of 7'],
  ])('%s', async (_name, task, fields, message) => {
    await tasks().updateOne({ _id: task }, { $set: fields });
    expect((await verify()).violations).toEqual([
      expect.objectContaining({ invariant: 'charged_is_succeeded', task, message }),
    ]);
  });

  it.each([
    ['ended before', { completedAt: 1 }],
    ['says that it has ended later than now', { completedAt: 9e15 }],
    ['does not say when it ended', {}],
  ])('a succeeded task that is missing from the ledger, which %s', async (_, when) => {
    const outcome = { kind: 'succeeded' };
    await tasks().insertOne({ _id: 't9', ...record, ...when, status: 'succeeded', outcome });
    expect((await verify()).violations).toEqual([
      {
        invariant: 'charged_is_succeeded',
        account: 'a',
        task: 't9',
        message: 't9 succeeded, but is not settled',
      },
    ]);
  });

  it('a task between its settle and its end in the record is sound', async () => {
    await tasks().updateOne({ _id: 't1' }, { $set: { status: 'running', ...ending } });
    expect(await invariantsBroken()).toEqual([]);
  });
});

it('more entries than are read at once, and more violations than are listed', async () => {
  const account = 'bulk';
  const batch: EntryDocument[] = [];
  let head: Head = emptyHead;
  const add = (draft: Omit<Parameters<typeof chainEntry>[1], 'account'>) => {
    const entry = chainEntry(head, { account, ...draft }, seal);
    batch.push(entry);
    head = entry;
  };
  add({ kind: 'credit', key: keys.credit(account, 'r'), amount: 10n ** 9n, available: 10n ** 9n, held: 0n });
  for (let n = 0; n < 1_100; n += 1) {
    const task = `img_bulk${n}`;
    add({ kind: 'hold', key: keys.hold(task), task, amount: 5n, available: -5n, held: 5n, basis: heldText });
    add({
      kind: 'settle',
      key: keys.close(task),
      task,
      amount: 4n,
      available: 1n,
      held: -5n,
      basis: settledText(4n),
    });
  }
  await world.entries.insertMany(batch);
  expect(await verify()).toMatchObject({ accounts: 3, entries: 2_211, violations: [], violationCount: 0 });

  await raw().updateMany({ account, kind: 'settle' }, { $set: { note: 'edited' } });
  const broken = await verify();
  expect(broken.violationCount).toBe(1_100);
  expect(broken.violations).toHaveLength(1_000);
});

describe('record_is_known', () => {
  it.each<[string, string, Document, string]>([
    ['a status that nobody knows', 't1', { status: 'paid' }, 'has the unknown status paid'],
    ['no status', 't1', { status: null }, 'has the unknown status null'],
    ['a state that nobody knows', 't3', { state: { at: 'resting' } }, 'has the unknown state resting'],
    ['no state', 't3', { state: null }, 'has the unknown state undefined'],
    ['a status of another state', 't3', { status: 'failed' }, 'is failed, but its state is waiting'],
  ])('%s', async (_, task, fields, message) => {
    await tasks().updateOne({ _id: task }, { $set: fields });
    expect((await verify()).violations).toContainEqual({
      invariant: 'record_is_known',
      account: 'a',
      task,
      message: `${task} ${message}`,
    });
  });
});

describe('an open hold without a record is sound for a while if something accounts for it', () => {
  it.each([
    ['workflow', hourMs],
    ['lease', dayMs],
  ] as const)('a %s', async (holder, whileMs) => {
    await tasks().deleteOne({ _id: 't3' });
    const { at } = (await world.entries.findOne({ _id: 'a/7' })) ?? { at: 0 };
    expect(await verifyAt(at + whileMs - 1, holder)).toEqual([]);
    expect(await verifyAt(at + whileMs, holder)).toMatchObject([
      { invariant: 'open_hold_is_live', task: 't3' },
    ]);
  });
});

it('a release without a record belongs to an abandoned creation, or is a violation', async () => {
  await tasks().deleteOne({ _id: 't2' });
  const message = 't2 is released, but has no record';
  expect((await verify()).violations).toMatchObject([{ invariant: 'charged_is_succeeded', message }]);
  await ledger.void({ account: 'a', task: 't3', note: abandonedNote });
  await tasks().deleteOne({ _id: 't3' });
  expect(await invariantsBroken()).toEqual(['charged_is_succeeded']);
});

it('removed heads are noticed by comparison with the verification that anchored them', async () => {
  const lastSoundAt = Date.now() + hourMs;
  expect(await verifyAt(Date.now(), 'workflow', { lastSoundAt: 0 })).toEqual([]);
  const missing = await verifyAt(Date.now(), 'workflow', { lastSoundAt });
  expect(missing.map(({ invariant, account }) => `${account} ${invariant}`).toSorted()).toEqual([
    'a ends_at_anchored_head',
    'b ends_at_anchored_head',
  ]);
});

it('every invariant has a test with its name in this file', async () => {
  const source = await readFile(new URL(import.meta.url), 'utf8');
  for (const invariant of invariants) expect(source).toContain(`'${invariant}`);
});
