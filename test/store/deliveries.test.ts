import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownCallbackRound as ownRound } from '../../src/domain/ids.ts';
import { createDeliveryStore } from '../../src/store/deliveries.ts';
import { openDatabase } from '../capacity/support.ts';

const target = 'https://me.example';

let database: Awaited<ReturnType<typeof openDatabase>>;
let count = 0;
beforeAll(async () => {
  database = await openDatabase();
  await open().ensureIndexes();
});
afterAll(() => database.drop());

const open = () => createDeliveryStore(database.db);
const newTask = () => `task_${(count += 1)}`;
const stateOf = async (task: string) => (await open().find(task))?.state;
const answered = (at: number, status: number) => ({ at, durationMs: 1, status });

describe('the callbacks that were abandoned', () => {
  const all = async (limit: number): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let page = await open().abandoned(limit); page.length > 0;) {
      pages.push(page);
      page = await open().abandoned(limit, page.at(-1));
    }
    return pages;
  };

  it('are listed until they are redelivered, however they were abandoned', async () => {
    const [answered410, died, delivered] = [newTask(), newTask(), newTask()];
    for (const task of [answered410, died, delivered]) await open().begin(task, ownRound, target);
    await open().record({ task: answered410, round: ownRound, target }, answered(1, 410), 'gave_up');
    await open().abandon(died, ownRound);
    await open().record({ task: delivered, round: ownRound, target }, answered(1, 200), 'delivered');
    expect((await all(10)).flat()).toEqual([answered410, died]);

    await open().begin(answered410, 'again', target);
    expect((await all(10)).flat()).toEqual([died]);
    await open().record({ task: answered410, round: 'again', target }, answered(2, 500), 'gave_up');
    expect((await all(10)).flat()).toEqual([answered410, died]);
    await open().begin(died, 'again', target);
    await open().record({ task: died, round: 'again', target }, answered(2, 200), 'delivered');
    expect((await all(10)).flat()).toEqual([answered410]);
    await open().begin(answered410, 'third', target);
  });

  it('come in pages, each once, although they leave the list meanwhile', async () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `task_many_${String(n).padStart(5, '0')}`);
    const abandoned = ids.map((_id) => ({ _id, round: ownRound, begun: 10, state: 'gave_up', gave_up: _id }));
    await database.db
      .collection<{ _id: string }>('deliveries')
      .insertMany(abandoned.map((one) => ({ ...one, target, attempts: [] })));
    const pages = await all(1000);
    expect(pages.map((page) => page.length)).toEqual(Array.from({ length: 10 }, () => 1000));
    expect(pages.flat()).toEqual(ids);

    const [first = ''] = ids;
    await open().begin(first, 'again', target);
    expect(await open().abandoned(2, first)).toEqual(ids.slice(1, 3));
  });
});

describe('an attempt', () => {
  it('is counted once for each that begins, also the first ones at the same time', async () => {
    const task = newTask();
    const numbers = await Promise.all(Array.from({ length: 8 }, () => open().begin(task, ownRound, target)));
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8]));
  });

  it('that is recorded again is one attempt', async () => {
    const task = newTask();
    await open().begin(task, ownRound, target);
    const delivery = { task, round: ownRound, target };
    await open().record(delivery, answered(1, 500), 'pending');
    await open().record(delivery, answered(1, 500), 'pending');
    await open().record(delivery, { at: 2, durationMs: 3, error: 'timeout' }, 'pending');
    expect(await open().find(task)).toEqual({
      task,
      state: 'pending',
      target,
      attempts: [
        { at: 1, durationMs: 1, status: 500 },
        { at: 2, durationMs: 3, error: 'timeout' },
      ],
    });
  });

  it('of a task without a record is not recorded: it was never begun', async () => {
    const task = newTask();
    await open().record({ task, round: ownRound, target }, answered(1, 200), 'delivered');
    expect(await open().find(task)).toBeUndefined();
  });

  it('is one of the newest fifty', async () => {
    const task = newTask();
    await open().begin(task, ownRound, target);
    for (let at = 1; at <= 52; at += 1)
      await open().record({ task, round: ownRound, target }, answered(at, 500), 'pending');
    const attempts = (await open().find(task))?.attempts ?? [];
    expect([attempts.length, attempts[0]?.at, attempts.at(-1)?.at]).toEqual([50, 3, 52]);
  });
});

describe('a round', () => {
  it('that has delivered begins no attempt; one on demand does, and counts from 1', async () => {
    const task = newTask();
    await open().begin(task, ownRound, target);
    await open().record({ task, round: ownRound, target }, answered(1, 200), 'delivered');
    expect(await open().begin(task, ownRound, target)).toBeUndefined();
    expect(await open().begin(task, 'first', target)).toBe(1);
    expect(await stateOf(task)).toBe('pending');
    expect(await open().begin(task, 'first', 'https://moved.example')).toBe(2);
    expect(await open().find(task)).toMatchObject({ target: 'https://moved.example' });
  });

  it('that was replaced begins no attempt, and does not take the count back', async () => {
    const task = newTask();
    await open().begin(task, ownRound, target);
    await open().begin(task, 'first', target);
    await open().begin(task, 'second', target);
    expect(await open().begin(task, ownRound, target)).toBeUndefined();
    expect(await open().begin(task, 'first', target)).toBeUndefined();
    expect(await open().begin(task, 'second', target)).toBe(2);
  });

  it('of the task itself replaces none, even where it had begun nothing', async () => {
    const task = newTask();
    expect(await open().begin(task, 'first', target)).toBe(1);
    expect(await open().begin(task, ownRound, target)).toBeUndefined();
    expect(await open().begin(task, 'first', target)).toBe(2);
  });

  it('of two that begin at once is replaced, and only one counts from then on', async () => {
    const task = newTask();
    await open().begin(task, ownRound, target);
    await Promise.all(['first', 'second'].map((round) => open().begin(task, round, target)));
    const later = await Promise.all(['first', 'second'].map((round) => open().begin(task, round, target)));
    expect(later.filter((n) => n === undefined)).toHaveLength(1);
  });

  it('that was replaced is listed with its late answer, and decides nothing', async () => {
    const task = newTask();
    await open().begin(task, ownRound, target);
    await open().begin(task, 'first', target);
    await open().record({ task, round: 'first', target }, answered(2, 200), 'delivered');
    await open().record(
      { task, round: ownRound, target: 'https://old.example' },
      answered(1, 500),
      'gave_up',
    );
    await open().abandon(task, ownRound);
    const found = await open().find(task);
    expect(found).toMatchObject({ state: 'delivered', target });
    expect(found?.attempts.map(({ at }) => at)).toEqual([2, 1]);
  });

  it('is abandoned while it is pending, and not after it has delivered', async () => {
    const [lost, delivered] = [newTask(), newTask()];
    for (const task of [lost, delivered]) await open().begin(task, ownRound, target);
    await open().record({ task: delivered, round: ownRound, target }, answered(1, 200), 'delivered');
    for (const task of [lost, delivered]) await open().abandon(task, ownRound);
    expect([await stateOf(lost), await stateOf(delivered)]).toEqual(['gave_up', 'delivered']);
  });
});
