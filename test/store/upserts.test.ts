import { MongoServerError, type Collection, type Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChannelHealthStore } from '../../src/store/channel-health.ts';
import { createChannelStateStore } from '../../src/store/channel-states.ts';
import { createRateLimitStore } from '../../src/store/rate-limits.ts';
import { createResultCopyStore } from '../../src/store/result-copies.ts';
import { createSlotStore } from '../../src/store/slots.ts';
import { openDatabase } from '../capacity/support.ts';

let database: Awaited<ReturnType<typeof openDatabase>>;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

/**
 * Makes the first call of one of these methods lose a race to `other`. This can happen because two upserts with the
 * same `_id` may both try to insert.
 */
function losingRace(methods: readonly (keyof Collection)[], other: () => Promise<unknown>): Db {
  const { db } = database;
  let lost = false;
  const losing = (collection: Collection): Collection =>
    new Proxy(collection, {
      get(inner, name) {
        const member: unknown = Reflect.get(inner, name);
        if (typeof member !== 'function') return member;
        if (lost || !methods.some((method) => method === name)) return member.bind(inner);
        return async () => {
          lost = true;
          await other();
          throw new MongoServerError({ message: 'E11000 duplicate key', code: 11_000 });
        };
      },
    });
  return new Proxy(db, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'collection') return member.bind(target);
      return (collection: string) => losing(target.collection(collection));
    },
  });
}

describe('the requests of a key in a minute', () => {
  /** The time is far in the future, because MongoDB may remove expired documents at any moment. */
  const minute = 4_200_000_000_000;

  it('are counted exactly when many arrive at once, separately for each key and minute', async () => {
    const stores = [createRateLimitStore(database.db), createRateLimitStore(database.db)];
    const counts = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => stores[n % 2]?.count('k', minute)),
    );
    expect(counts.map(Number).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    expect(await stores[0]?.count('k', minute + 60_000)).toBe(1);
    expect(await stores[0]?.count('other', minute)).toBe(1);
  });

  it('are also counted for the writer that lost the race for the first', async () => {
    const first = createRateLimitStore(database.db);
    const second = createRateLimitStore(losingRace(['findOneAndUpdate'], () => first.count('raced', minute)));
    expect(await second.count('raced', minute)).toBe(2);
  });

  it('are forgotten five minutes after their minute began, however many follow', async () => {
    const store = createRateLimitStore(database.db);
    await store.count('kept', minute);
    await store.count('kept', minute);
    const counter = await database.db
      .collection<{ _id: string; expires?: Date }>('rate_limits')
      .findOne({ _id: `kept:${minute}` });
    expect(counter?.expires).toEqual(new Date(minute + 5 * 60_000));
  });
});

describe('an operator’s switch', () => {
  const off = { id: 'one', enabled: false, by: 'ada', reason: 'errors', at: 1 };

  it('is one document per channel, and the last change wins', async () => {
    const states = createChannelStateStore(database.db);
    await states.set(off);
    await states.set({ ...off, enabled: true, by: 'bob', reason: 'fixed', at: 2 });
    expect(await states.list()).toEqual([{ id: 'one', enabled: true, by: 'bob', reason: 'fixed', at: 2 }]);
  });

  it('is also written by the writer that lost the race to be first', async () => {
    const states = createChannelStateStore(database.db);
    const on = { ...off, id: 'raced', enabled: true };
    const losing = createChannelStateStore(losingRace(['updateOne'], () => states.set(on)));
    await losing.set({ ...off, id: 'raced' });
    expect((await states.list()).find(({ id }) => id === 'raced')).toEqual({ ...off, id: 'raced' });
  });
});

describe('a circuit', () => {
  let clock = 1000;
  const open = () => createChannelHealthStore(database.db, () => clock);
  const record = { state: 'open', sign: 'failure', code: 'x', coolDownMs: 10, until: 1000, at: 1 } as const;

  const probe = (leaseMs: number) => ({ task: 'task_1', isSuspect: false, isConcerned: true, leaseMs });

  it('lets one probe of all processes through, once its cool-down is over', async () => {
    await open().write('p/a', record);
    clock = 999;
    expect(await open().takeProbe('p/a', probe(50))).toBe(false);
    clock = 1000;
    const answers = await Promise.all(Array.from({ length: 8 }, () => open().takeProbe('p/a', probe(50))));
    expect(answers.filter((isTaken) => isTaken)).toHaveLength(1);
  });

  it('lets the next probe through if the previous one never returned', async () => {
    await open().write('p/b', record);
    clock = 1000;
    expect(await open().takeProbe('p/b', probe(50))).toBe(true);
    clock = 1049;
    expect(await open().takeProbe('p/b', probe(50))).toBe(false);
    clock = 1050;
    expect(await open().takeProbe('p/b', probe(50))).toBe(true);
  });

  it('lets no probe through when it is closed or unknown, and one again after it was written', async () => {
    clock = 1000;
    await open().write('p/c', { ...record, state: 'closed' });
    expect(await open().takeProbe('p/c', probe(50))).toBe(false);
    expect(await open().takeProbe('p/unknown', probe(50))).toBe(false);
    await open().write('p/c', record);
    expect(await open().takeProbe('p/c', probe(50))).toBe(true);
    await open().write('p/c', record);
    expect(await open().takeProbe('p/c', probe(50))).toBe(true);
  });

  it('is also written by the writer that lost the race to be first', async () => {
    const losing = createChannelHealthStore(
      losingRace(['replaceOne'], () => open().write('p/d', { ...record, state: 'closed' })),
      () => clock,
    );
    await losing.write('p/d', record);
    expect((await open().list()).find(({ id }) => id === 'p/d')).toEqual({ id: 'p/d', ...record });
  });
});

describe('the copy of a task’s results', () => {
  const copy = { task: 't', state: 'retry', names: ['a.mp4'], tries: 1, dueAt: 100 } as const;
  const open = () => createResultCopyStore(database.db);

  it('is due from its time on, in order, and only in its state', async () => {
    for (const [task, dueAt] of [['late', 300], ['second', 200], ['first', 100]] as const)
      await open().write({ ...copy, task, dueAt }); // prettier-ignore
    await open().write({ ...copy, task: 'stored', state: 'stored', dueAt: 1 });
    const due = async (at: number, limit = 10) =>
      (await open().listDue('retry', at, limit)).map(({ task }) => task);
    expect(await due(99)).toEqual([]);
    expect(await due(200)).toEqual(['first', 'second']);
    expect(await due(999, 1)).toEqual(['first']);
    expect((await open().listDue('stored', 999, 10)).map(({ task }) => task)).toEqual(['stored']);
  });

  it('reads as it was written, with and without an error', async () => {
    await open().write({ ...copy, task: 'failed', error: 'too large' });
    expect(await open().find('failed')).toEqual({ ...copy, task: 'failed', error: 'too large' });
    await open().write(copy);
    expect(await open().find('t')).toEqual(copy);
    expect(await open().find('unknown')).toBeUndefined();
  });

  it('that succeeded after a failure has no error any more', async () => {
    await open().write({ ...copy, task: 'again', error: 'timeout' });
    await open().write({ ...copy, task: 'again', state: 'stored', tries: 2 });
    expect(await open().find('again')).toEqual({ ...copy, task: 'again', state: 'stored', tries: 2 });
  });

  it('is also written by the writer that lost the race to be first', async () => {
    const losing = createResultCopyStore(
      losingRace(['replaceOne'], () => open().write({ ...copy, task: 'raced' })),
    );
    await losing.write({ ...copy, task: 'raced', tries: 2 });
    expect(await open().find('raced')).toMatchObject({ tries: 2 });
  });
});

it('a round is also taken and recorded by the writer that lost the race to be first', async () => {
  const slots = createSlotStore(database.db, Date.now);
  const taking = createSlotStore(
    losingRace(['findOneAndUpdate'], () => slots.takeRound('q', 'acc')),
    Date.now,
  );
  expect(await taking.takeRound('q', 'acc')).toBe(2);
  const noting = createSlotStore(
    losingRace(['updateOne'], () => slots.noteServed('n', 3)),
    Date.now,
  );
  await noting.noteServed('n', 5);
  expect(await slots.takeRound('n', 'acc')).toBe(6);
});
