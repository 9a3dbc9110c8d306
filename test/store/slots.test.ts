import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSlotStore } from '../../src/store/slots.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
/** The time is far in the future, because MongoDB may remove expired documents at any moment. */
let clock = 4_200_000_000_000;
beforeAll(async () => {
  database = await openDatabase();
  await open().ensureIndexes();
});
afterAll(() => database.drop());

const open = () => createSlotStore(database.db, () => clock);
const lease = (task: string, ms = 1000) => ({ task, account: 'x', until: clock + ms });
const taken = (answers: readonly unknown[]) => answers.filter((answer) => answer !== undefined);
const names = (length: number) => Array.from({ length }, (_, n) => `t${n}`);

describe('a slot', () => {
  it('has one holder, however many processes ask for the first slots of a queue at once', async () => {
    const answers = await Promise.all(names(20).map((task) => open().reserve('many/a', 3, lease(task))));
    expect(taken(answers)).toHaveLength(3);
    expect(new Set(taken(answers)).size).toBe(3);
    const held = (await open().held()).filter(({ queue }) => queue === 'many/a');
    expect(new Set(held.map(({ task }) => task)).size).toBe(3);
  });

  it('is free exactly when its lease has expired', async () => {
    const until = clock + 1000;
    const first = await open().reserve('lease/a', 1, { task: 'dead', account: 'x', until });
    expect(first).toBe('lease/a/0');
    clock = until - 1;
    expect(await open().reserve('lease/a', 1, lease('next'))).toBeUndefined();
    expect(await open().hasFree('lease/a', 1)).toBe(false);
    clock = until;
    expect(await open().hasFree('lease/a', 1)).toBe(true);
    expect(await open().reserve('lease/a', 1, lease('next'))).toBe('lease/a/0');
    expect(await open().heldBy('dead')).toEqual([]);
  });

  it('whose lease has expired goes to one of several processes that ask at once', async () => {
    await open().reserve('dead/a', 1, lease('dead', 0));
    const answers = await Promise.all(names(10).map((task) => open().reserve('dead/a', 1, lease(task))));
    expect(taken(answers)).toEqual(['dead/a/0']);
  });

  it('is extended and freed by its holder only', async () => {
    const store = open();
    const id = (await store.reserve('own/a', 1, lease('owner'))) ?? '';
    expect(await store.extend(id, lease('other', 9000))).toBe(false);
    await store.free(id, 'other');
    expect(await store.heldBy('owner')).toEqual([{ id, queue: 'own/a', task: 'owner' }]);
    expect(await store.extend(id, lease('owner', 9000))).toBe(true);
    clock += 5000;
    expect(await store.hasFree('own/a', 1)).toBe(false);
    await store.free(id, 'owner');
    expect(await store.hasFree('own/a', 1)).toBe(true);
  });

  it('is not freed under a lease that its holder has extended since', async () => {
    const store = open();
    const seen = lease('owner');
    const id = (await store.reserve('seen/a', 1, seen)) ?? '';
    await store.extend(id, lease('owner', 9000));
    await store.free(id, 'owner', seen.until);
    expect(await store.hasFree('seen/a', 1)).toBe(false);
    await store.free(id, 'owner', clock + 9000);
    expect(await store.hasFree('seen/a', 1)).toBe(true);
  });

  it('above a lowered limit is not granted, and a raised limit creates more', async () => {
    for (const task of ['a', 'b', 'c']) await open().reserve('limit/a', 3, lease(task));
    await open().free('limit/a/2', 'c');
    expect(await open().reserve('limit/a', 2, lease('d'))).toBeUndefined();
    expect(await open().hasFree('limit/a', 2)).toBe(false);
    const store = open();
    expect(await store.reserve('limit/a', 2, lease('d'))).toBeUndefined();
    expect(await store.reserve('limit/a', 4, lease('d'))).toBe('limit/a/2');
    expect(await store.reserve('limit/a', 4, lease('e'))).toBe('limit/a/3');
  });

  it('above a lowered limit counts until it is returned', async () => {
    for (const task of ['a', 'b', 'c', 'd']) await open().reserve('lower/a', 4, lease(task));
    const asked = async (limit: number) => [
      await open().hasFree('lower/a', limit),
      (await open().holders('lower/a')).length < limit,
      (await open().reserve('lower/a', limit, lease('next'))) !== undefined,
    ];
    for (const [n, task] of [
      [0, 'a'],
      [1, 'b'],
    ] as const) {
      await open().free(`lower/a/${n}`, task);
      expect(await asked(2)).toEqual([false, false, false]);
    }
    await open().free('lower/a/3', 'd');
    expect(await asked(2)).toEqual([true, true, true]);
    expect(await asked(2)).toEqual([false, false, false]);
  });

  it('costs a document when it is used, and a few more, whatever the limit is', async () => {
    const slots = database.db.collection<{ _id: string; queue: string; n: number }>('slots');
    const numbersOf = async (queue: string) =>
      (await slots.find({ queue }).sort({ n: 1 }).toArray()).map(({ n }) => n);
    await open().reserve('large/a', 100_000, lease('first'));
    expect(await numbersOf('large/a')).toHaveLength(16);
    const answers = await Promise.all(
      names(60).map((task) => open().reserve('large/a', 100_000, lease(task))),
    );
    expect(new Set(taken(answers)).size).toBe(60);
    expect(answers).not.toContain('large/a/0');
    // No number may be missing, because a slot that does not exist cannot be taken.
    const numbers = await numbersOf('large/a');
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => n));
    expect(numbers.length).toBeLessThanOrEqual(128);
  });

  it('of another queue is not touched', async () => {
    await open().reserve('here/a', 1, lease('x'));
    expect(await open().reserve('here/b', 1, lease('x'))).toBe('here/b/0');
    expect((await open().heldBy('x')).map(({ id }) => id).toSorted()).toEqual(['here/a/0', 'here/b/0']);
  });
});

describe('a ticket', () => {
  const insert = (task: string, queue: string, round: number, urgency = 1) =>
    open().insertTicket(
      {
        task,
        queue,
        account: 'acc',
        model: 'm',
        wasLost: false,
        urgency: `${urgency}`,
        looksAt: clock + 10,
        deadlineAt: clock + 1000,
      },
      round,
    );

  it('exists once for a task and queue: a later one changes nothing', async () => {
    await Promise.all([insert('t', 'one/a', 3), insert('t', 'one/a', 3)]);
    await insert('t', 'one/a', 1);
    expect(await open().countTickets('one/a', 10)).toBe(1);
    expect(await open().firstTicket('one/a')).toMatchObject({ task: 't', round: 3 });
  });

  it('is served by round, then by urgency', async () => {
    await insert('late', 'order/a', 10, 0);
    await insert('third', 'order/a', 9, 2);
    await insert('second', 'order/a', 9, 1);
    const served: string[] = [];
    for (;;) {
      const next = await open().firstTicket('order/a');
      if (next === undefined) break;
      served.push(next.task);
      await open().removeTicket(next.task, 'order/a');
    }
    expect(served).toEqual(['second', 'third', 'late']);
  });

  it('is removed by one of several processes', async () => {
    await insert('t', 'gone/a', 1);
    const answers = await Promise.all(names(10).map(() => open().removeTicket('t', 'gone/a')));
    expect(answers.filter((isRemoved) => isRemoved)).toHaveLength(1);
  });

  it('says when its task checks again, as long as it exists', async () => {
    const order = await insert('t', 'look/a', 1);
    expect(await open().keepTicket('t', 'look/a', 77)).toBe(order);
    expect(await open().firstTicket('look/a')).toMatchObject({ task: 't', round: 1, looksAt: 77 });
    await insert('t', 'look/b', 1);
    await insert('other', 'look/b', 1);
    await open().leaveQueues('t');
    expect(await open().keepTicket('t', 'look/a', 88)).toBeUndefined();
    expect(await open().firstTicket('look/b')).toMatchObject({ task: 'other' });
  });

  it('is counted only as far as requested', async () => {
    for (const task of names(4)) await insert(task, 'count/a', 1);
    expect(await open().countTickets('count/a', 3)).toBe(3);
    expect(await open().countTickets('count/a', 9)).toBe(4);
    const last = await insert('last', 'count/a', 2);
    expect(await open().countTickets('count/a', 9, last)).toBe(4);
    expect(await open().countTickets('count/a', 3, last)).toBe(3);
  });
});

describe('a round', () => {
  it('is different for each ticket of an account, even if all ask at once', async () => {
    const rounds = await Promise.all(names(10).map(() => open().takeRound('burst', 'acc')));
    expect(rounds.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, n) => n + 1));
  });

  it('starts behind the served one, so that turns cannot be saved up', async () => {
    await open().noteServed('served', 40);
    expect(await open().takeRound('served', 'new')).toBe(41);
    expect(await open().takeRound('served', 'new')).toBe(42);
    const rounds = await Promise.all(names(6).map(() => open().takeRound('served', 'idle')));
    expect(rounds.toSorted((a, b) => a - b)).toEqual([41, 42, 43, 44, 45, 46]);
  });

  it('that is served never goes back', async () => {
    await Promise.all([5, 9, 7].map((round) => open().noteServed('forward', round)));
    await open().noteServed('forward', 3);
    expect(await open().takeRound('forward', 'acc')).toBe(10);
  });

  describe('of a ticket that leaves', () => {
    const join = async (queue: string, task: string, wasLost = false): Promise<void> => {
      const round = await open().takeRound(queue, 'acc');
      const ticket = { task, queue, account: 'acc', model: 'm', wasLost, urgency: '1', looksAt: clock };
      await open().insertTicket({ ...ticket, deadlineAt: clock + 1000 }, round);
    };
    const roundsOf = async (queue: string): Promise<number[]> => {
      const found = await database.db.collection('slot_tickets').find({ queue }).toArray();
      return found.map(({ round }) => Number(round)).toSorted((a, b) => a - b);
    };

    it.each<[string, readonly string[]]>([
      ['the first', ['t0']],
      ['all but the first', ['t1', 't2', 't3', 't4']],
      ['all but the last', ['t0', 't1', 't2', 't3']],
      ['one in the middle', ['t2']],
      ['the last', ['t4']],
      ['every one', ['t4', 't0', 't2', 't1', 't3']],
    ])('is used by the others of its account, whichever leaves (%s)', async (which, leaving) => {
      const queue = `left/${which}`;
      await open().noteServed(queue, 7);
      for (const task of names(5)) await join(queue, task);
      for (const task of leaving) await open().leaveQueues(task, queue);
      await join(queue, 'next');
      const count = 6 - leaving.length;
      expect(await roundsOf(queue)).toEqual(Array.from({ length: count }, (_, n) => 8 + n));
    });

    it('is not used twice, however often tickets come and leave', async () => {
      for (const task of names(4)) await join('twice/a', task);
      await open().leaveQueues('t1', 'twice/a');
      await Promise.all(names(8).map((task) => join('twice/a', `more-${task}`)));
      const rounds = await roundsOf('twice/a');
      expect(new Set(rounds).size).toBe(rounds.length);
      expect(rounds.at(-1)).toBe(11);
    });

    it('is not used by a lost task, which goes last', async () => {
      for (const task of names(2)) await join('lost/a', task);
      await join('lost/a', 'lost', true);
      await open().leaveQueues('t0', 'lost/a');
      expect(await open().firstTicket('lost/a')).toMatchObject({ task: 't1', round: 1, wasLost: false });
      expect(await roundsOf('lost/a')).toEqual([1, 3]);
    });
  });
});
