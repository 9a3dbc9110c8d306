import { setImmediate as quiet } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chainEntry, createEntryHash, emptyHead } from '../../src/ledger/entry.ts';
import type { EntryDocument, Head } from '../../src/ledger/entry.ts';
import { shareInserts } from '../../src/ledger/shared-inserts.ts';

const hash = createEntryHash(new Uint8Array(32));

function entriesOf(account: string, count: number): EntryDocument[] {
  let head: Head = emptyHead;
  return Array.from({ length: count }, (_, n) => {
    const draft = {
      account,
      key: `${account}:${n}`,
      kind: 'credit',
      amount: 1n,
      available: 1n,
      held: 0n,
    } as const;
    const entry = chainEntry(head, draft, { at: 0, hash });
    head = entry;
    return entry;
  });
}

function server() {
  const inserts: {
    readonly ids: string[];
    readonly answer: (written: number) => void;
    readonly fail: () => void;
  }[] = [];
  const insert = shareInserts(
    (entries) =>
      new Promise((answer, reject) => {
        const fail = (): void => reject(new Error('no answer'));
        inserts.push({ ids: entries.map(({ _id }) => _id), answer, fail });
      }),
  );
  return { inserts, insert };
}

function busyServer() {
  const { inserts, insert } = server();
  for (const account of ['w', 'x', 'y', 'z']) void insert(entriesOf(account, 1));
  expect(inserts.map(({ ids }) => ids)).toEqual([['w/1'], ['x/1'], ['y/1'], ['z/1']]);
  return { inserts, insert };
}

describe('inserts of several accounts', () => {
  it('are sent alone while few are in flight, and together while many are', async () => {
    const { inserts, insert } = busyServer();
    const more = [insert(entriesOf('a', 2)), insert(entriesOf('b', 1))];
    expect(inserts).toHaveLength(4);
    inserts[1]?.answer(1);
    await quiet();
    expect(inserts[4]?.ids).toEqual(['a/1', 'a/2', 'b/1']);
    inserts[4]?.answer(3);
    await expect(Promise.all(more)).resolves.toEqual([2, 1]);
  });

  it('that are rejected report the entries before them, and those after them are not lost', async () => {
    const { inserts, insert } = busyServer();
    const [a, b, c] = [insert(entriesOf('a', 1)), insert(entriesOf('b', 3)), insert(entriesOf('c', 2))];
    inserts[0]?.answer(1);
    await quiet();
    inserts[4]?.answer(2);
    await expect(Promise.all([a, b])).resolves.toEqual([1, 1]);
    await quiet();
    expect(inserts[5]?.ids).toEqual(['c/1', 'c/2']);
    inserts[5]?.answer(0);
    await expect(c).resolves.toBe(0);
  });

  it('that fail leave all their entries unknown, and the next insert proceeds', async () => {
    const { inserts, insert } = busyServer();
    const both = [insert(entriesOf('a', 1)), insert(entriesOf('b', 1))];
    inserts[0]?.answer(1);
    await quiet();
    inserts[4]?.fail();
    await expect(Promise.allSettled(both)).resolves.toMatchObject([
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    const next = insert(entriesOf('c', 1));
    expect(inserts[5]?.ids).toEqual(['c/1']);
    inserts[5]?.answer(1);
    await expect(next).resolves.toBe(1);
  });

  it('that exceed the limit continue in the next one', async () => {
    const { inserts, insert } = busyServer();
    void insert(entriesOf('a', 150));
    void insert(entriesOf('b', 100));
    inserts[0]?.answer(1);
    inserts[1]?.answer(1);
    await quiet();
    expect(inserts.slice(4).map(({ ids }) => ids.length)).toEqual([150, 100]);
  });
});
