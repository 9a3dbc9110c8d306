import { Buffer } from 'node:buffer';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Collection, Document } from 'mongodb';
import { createHeadAnchors } from '../../src/ledger/anchored-heads.ts';
import { chainEntry, createEntryHash, emptyHead, keys } from '../../src/ledger/entry.ts';
import type { Draft, EntryDocument, EntryHash, Head } from '../../src/ledger/entry.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { testLedgerKey } from '../support/sealing.ts';
import { hashTestEntry, heldText, settledText, useLedgerWorld } from './support.ts';

const world = useLedgerWorld('test_ledger_corruptions');
const anchors = () => createHeadAnchors(world.db, testLedgerKey);

const ledger = () => world.entries;
const raw = (name: string): Collection<Document & { _id: string }> => world.db.collection(name);
const change = (task: string, $set: Document) => raw('tasks').updateOne({ _id: task }, { $set });

const account = 'acme';
const guessed = createEntryHash(Buffer.alloc(32));

const verify = async () => {
  const live = new Map([['running', 'workflow' as const]]);
  const options = { db: world.db, key: testLedgerKey, holders: async () => live };
  return (await verifyLedger(options)).violations.map(({ invariant }) => invariant);
};

/**
 * Entry 1 is a credit. Entries 2, 3 and 4 are the hold of `paid`, its settlement, and the charge beyond the hold.
 * Entries 5 and 6 are the hold and the release of `gone`. Entry 7 is the hold of `running`.
 */
beforeEach(async () => {
  const books = await world.openLedger();
  const hold = (task: string) =>
    books.hold({
      account,
      task,
      by: { key: 'key_1', model: 'video-1' },
      amount: 100n,
      basis: heldText,
      overdraftLimit: 0n,
    });
  const upstream = { model: 'video-1', channel: 'one', cost: 90n, unknown: 1 };
  await books.credit({ account, amount: 1000n, reference: 'start' });
  await hold('paid');
  await books.settle({ account, task: 'paid', held: 100n, amount: 130n, basis: settledText(130n), upstream });
  await hold('gone');
  await books.release({ account, task: 'gone', held: 100n });
  await hold('running');
  const record = { account, hold: 100n, state: { at: 'ended' } };
  await raw('tasks').insertMany([
    {
      _id: 'paid',
      ...record,
      status: 'succeeded',
      charge: 130n,
      cost: 90n,
      costUnknown: 1,
      outcome: { kind: 'succeeded' },
    },
    { _id: 'gone', ...record, status: 'failed', charge: 0n },
    { _id: 'running', ...record, status: 'running', state: { at: 'waiting' } },
  ]);
});

afterEach(async () => {
  for (const name of ['ledger', 'ledger_heads', 'tasks']) await raw(name).deleteMany({});
});

type Rewritten = (entry: EntryDocument) => Partial<Draft> | undefined;

/**
 * Rewrites the chain with correct balances, hashed with `hash`. Entries can be changed, and the chain can be cut short.
 */
async function rewrite(hash: EntryHash, changed: Rewritten): Promise<void> {
  const entries = await ledger().find({ account }).sort({ seq: 1 }).toArray();
  await ledger().deleteMany({ account });
  let before: Head = emptyHead;
  let head: Head = emptyHead;
  for (const entry of entries) {
    const { _id, seq: _seq, at, prev_hash: _before, hash: _hash, ...fields } = entry;
    const moved = { available: entry.available - before.available, held: entry.held - before.held };
    before = entry;
    const change = changed(entry);
    if (change === undefined) return;
    const written = chainEntry(head, { ...fields, ...moved, ...change }, { at, hash });
    await ledger().insertOne(written);
    head = written;
  }
}

async function append(hash: EntryHash, draft: Omit<Draft, 'account'>): Promise<void> {
  const last = await ledger().findOne({ account }, { sort: { seq: -1 } });
  await ledger().insertOne(chainEntry(last ?? emptyHead, { account, ...draft }, { at: 1, hash }));
}

const anchorHead = async (upTo: bigint) => {
  const entry = await ledger().findOne({ account, seq: upTo });
  await anchors().anchor(entry === null ? [] : [{ ...entry, at: Date.UTC(2026, 0, 1) }]);
};
const credit = (amount: bigint): Omit<Draft, 'account'> => ({
  key: keys.credit(account, 'forged'), kind: 'credit', amount, available: amount, held: 0n,
}); // prettier-ignore
const moreCredit: Rewritten = ({ kind }) => (kind === 'credit' ? { amount: 9000n, available: 9000n } : {});

it('there is none in the original entries', async () => {
  await anchorHead(4n);
  await anchors().anchorAll(Date.now());
  expect(await verify()).toEqual([]);
});

const isBeyond = (seq: bigint) => (entry: EntryDocument) => (entry.seq > seq ? undefined : {});

it.each<[string, string, () => Promise<unknown>]>([
  [
    'a credit that was edited in place',
    'balances_equal_chain',
    () => ledger().updateOne({ _id: `${account}/1` }, { $set: { amount: 2000n } }),
  ],
  [
    'a credit that was changed, everything after it recomputed',
    'hash_chain_intact',
    () => rewrite(guessed, moreCredit),
  ],
  [
    'a charge that was changed, everything after it recomputed',
    'hash_chain_intact',
    () => rewrite(guessed, ({ kind }) => (kind === 'settle' ? { amount: 50n, available: 50n } : {})),
  ],
  ['a forged credit at the end', 'hash_chain_intact', () => append(guessed, credit(500n))],
  ['an entry that was removed', 'sequence_without_gap', () => ledger().deleteOne({ _id: `${account}/5` })],
  [
    'the end cut off, and the records of its tasks with it',
    'ends_at_anchored_head',
    async () => {
      await anchorHead(7n);
      await ledger().deleteMany({ seq: { $gt: 4n } });
      await raw('tasks').deleteMany({ _id: { $in: ['gone', 'running'] } });
    },
  ],
  [
    'the chain written anew below an anchored head, with the right key',
    'ends_at_anchored_head',
    async () => {
      await anchorHead(4n);
      await rewrite(hashTestEntry, moreCredit);
    },
  ],
  [
    'all entries of an account, and all its tasks, removed',
    'ends_at_anchored_head',
    async () => {
      await anchorHead(7n);
      await ledger().deleteMany({ account });
      await raw('tasks').deleteMany({});
    },
  ],
  [
    'the end cut off, and the anchored head changed to fit',
    'ends_at_anchored_head',
    async () => {
      await anchorHead(7n);
      await rewrite(hashTestEntry, isBeyond(6n));
      await raw('tasks').deleteMany({ _id: 'running' });
      const last = await ledger().findOne({ seq: 6n });
      await raw('ledger_heads').updateMany({}, { $set: { seq: 6n, hash: last?.hash } });
    },
  ],
  ['no charge in a task that was settled', 'charged_is_succeeded', () => change('paid', { charge: null })],
  ['another charge in a task', 'charged_is_succeeded', () => change('paid', { charge: 13n })],
  ['another cost in a task', 'charged_is_succeeded', () => change('paid', { cost: 9n })],
  ['a cost in a task that is better known', 'charged_is_succeeded', () => change('paid', { costUnknown: 0 })],
  [
    'a cost that was changed, everything after it recomputed',
    'hash_chain_intact',
    () =>
      rewrite(guessed, ({ upstream }) =>
        upstream === undefined ? {} : { upstream: { ...upstream, cost: 9n } },
      ),
  ],
  [
    'the day of a cost that was changed',
    'hash_chain_intact',
    () => ledger().updateOne({ _id: `${account}/3` }, { $set: { ended_on: '2026-01-01' } }),
  ],
  [
    'the record of a settled task removed',
    'charged_is_succeeded',
    () => raw('tasks').deleteOne({ _id: 'paid' }),
  ],
  [
    'a running task whose hold was released',
    'unfinished_task_is_held',
    () =>
      append(hashTestEntry, {
        key: keys.close('running'), kind: 'release', task: 'running', amount: 100n, available: 100n, held: -100n,
      }), // prettier-ignore
  ],
  [
    'a running task that was never held',
    'unfinished_task_is_held',
    () => rewrite(hashTestEntry, isBeyond(6n)),
  ],
  ['another hold in a running task', 'unfinished_task_is_held', () => change('running', { hold: 99n })],
  ['another hold in a task that has ended', 'charged_is_succeeded', () => change('gone', { hold: 99n })],
  [
    'a task that succeeded, and has no outcome',
    'charged_is_succeeded',
    () => raw('tasks').updateOne({ _id: 'paid' }, { $unset: { outcome: '' } }),
  ],
  [
    'a running task that was given to another account',
    'unfinished_task_is_held',
    () => change('running', { account: 'other' }),
  ],
  [
    'a task that was settled, shown as failed',
    'charged_is_succeeded',
    () => change('paid', { status: 'failed', charge: 0n }),
  ],
  [
    'the prices that a hold froze removed, with the right key',
    'charge_is_priced',
    () => rewrite(hashTestEntry, ({ seq }) => (seq === 2n ? { basis: '{}' } : {})),
  ],
  [
    'what a charge follows from removed, with the right key',
    'charge_is_priced',
    () => rewrite(hashTestEntry, ({ kind }) => (kind === 'settle' ? { basis: '' } : {})),
  ],
  [
    'a charge that is not what its prices come to, with the right key, in the ledger and in the task',
    'charge_is_priced',
    async () => {
      await rewrite(hashTestEntry, ({ kind, excess }) =>
        kind === 'charge_extra'
          ? { amount: 10n, available: -10n }
          : excess === undefined
            ? {}
            : { excess: 10n },
      );
      await change('paid', { charge: 110n });
    },
  ],
  [
    'a refund of more than was charged',
    'refunded_within_charge',
    () =>
      append(hashTestEntry, {
        key: keys.refund('paid'), kind: 'refund', task: 'paid', amount: 131n, available: 131n, held: 0n,
      }), // prettier-ignore
  ],
])('%s: %s', async (_, invariant, corrupt) => {
  await corrupt();
  expect(await verify()).toContain(invariant);
});
