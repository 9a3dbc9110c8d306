import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSlotKeeper } from '../../src/capacity/slot-keeper.ts';
import type { SlotAnswer, SlotKeeper, SlotRequest } from '../../src/capacity/slot-keeper.ts';
import { createSubmitGate } from '../../src/capacity/submit-gate.ts';
import type { RouteCandidate } from '../../src/task/candidates.ts';
import { createSlotStore, type SlotStore } from '../../src/store/slots.ts';
import { pauseFirstAt } from '../support/race.ts';
import { openDatabase } from './support.ts';

const deadlineAt = Date.now() + 3_600_000;
const limit = 3;

describe('the slots of a credential', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let woken: string[] = [];
  let shift = 0;
  const now = () => Date.now() + shift;
  beforeAll(async () => {
    database = await openDatabase();
    await createSlotStore(database.db, now).ensureIndexes();
  });
  afterAll(() => database.drop());

  function openKeeper(queue: string, limits = limit, change: Partial<SlotStore> = {}): SlotKeeper {
    return createSlotKeeper({
      store: { ...createSlotStore(database.db, now), ...change },
      limitOf: ({ channel }) => (channel.startsWith(queue) ? limits : undefined),
      limited: () => [{ channel: queue, credential: 'a' }],
      isUsable: () => true,
      wake: async (task) => void woken.push(task),
      now,
      random: () => 0.5,
    });
  }

  const request = (queue: string, task: string, account = 'x'): SlotRequest => ({
    task,
    account,
    model: 'm',
    candidate: { channel: queue, credential: 'a' },
    others: [],
    hasWaited: false,
    deadlineAt,
    createdAt: 0,
    wasLost: false,
  });

  it('never exceed the limit, however many processes ask at once', async () => {
    const keepers = [openKeeper('q1'), openKeeper('q1'), openKeeper('q1')];
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => keepers[n % 3]?.take(request('q1', `t${n}`))),
    );
    expect(answers.filter((answer) => answer?.kind === 'taken')).toHaveLength(limit);
    expect(answers.filter((answer) => answer?.kind === 'wait')).toHaveLength(30 - limit);
  });

  it('go to the accounts in turn, each task once, and are free when all tasks have left', async () => {
    const keeper = openKeeper('q2', 1);
    await keeper.take(request('q2', 'holder', 'large'));
    for (let n = 0; n < 10; n += 1) await keeper.take(request('q2', `large${n}`, 'large'));
    for (let n = 0; n < 2; n += 1) await keeper.take(request('q2', `small${n}`, 'small'));
    const order: string[] = [];
    let holder = 'holder';
    for (;;) {
      woken = [];
      await keeper.release(holder);
      const [next] = woken;
      if (next === undefined) break;
      expect(woken).toHaveLength(1);
      expect(await keeper.take(request('q2', next, next.slice(0, 5)))).toEqual({ kind: 'taken' });
      order.push(next);
      holder = next;
    }
    expect(order).toHaveLength(12);
    expect(order.findLastIndex((task) => task.startsWith('small'))).toBeLessThan(5);
    expect(await keeper.holders()).not.toContain('holder');
  });

  it.each<[string, (keeper: SlotKeeper, task: string) => Promise<void>]>([
    ['ended', (keeper, task) => keeper.release(task)],
    ['left this credential', (keeper, task) => keeper.release(task, { channel: 'q31', credential: 'a' })],
    ['went to a channel without a limit', (keeper, task) => keeper.leaveQueues(task)],
  ])('go to an account in turn, although twenty of its tasks %s without a slot', async (_, leave) => {
    const keeper = openKeeper('q31', 1);
    await keeper.take(request('q31', 'holder'));
    const left = Array.from({ length: 20 }, (__, n) => `left${n}`);
    for (const task of left) await keeper.take(request('q31', task, 'returning'));
    for (const task of left) await leave(keeper, task);
    for (let n = 0; n < 5; n += 1) await keeper.take(request('q31', `busy${n}`, 'busy'));
    await keeper.take(request('q31', 'returned', 'returning'));
    const order: string[] = [];
    for (let holder = 'holder'; order.length < 6; holder = order.at(-1) ?? '') {
      woken = [];
      await keeper.release(holder);
      order.push(woken[0] ?? 'nobody');
    }
    await keeper.release(order.at(-1) ?? '');
    expect(order.indexOf('returned')).toBeLessThan(2);
  });

  it('go to the models of an account in turn, to the most urgent task of each, and last to lost tasks', async () => {
    const keeper = openKeeper('q20', 1);
    await keeper.take(request('q20', 'holder'));
    const waiting = [
      ['lost', { wasLost: true, deadlineAt: deadlineAt - 9 }],
      ['late', { deadlineAt: deadlineAt + 9 }],
      ['young', { createdAt: 5 }],
      ['old', { createdAt: 1 }],
      ['soon', { deadlineAt: deadlineAt - 5 }],
      ['other', { model: 'other', deadlineAt: deadlineAt + 99 }],
    ] as const;
    for (const [task, more] of waiting) await keeper.take({ ...request('q20', task), ...more });
    const order: string[] = [];
    for (let holder = 'holder'; order.length < waiting.length; holder = order.at(-1) ?? '') {
      woken = [];
      await keeper.release(holder);
      order.push(woken[0] ?? 'nobody');
    }
    expect(order.filter((task) => task !== 'other')).toEqual(['soon', 'old', 'young', 'late', 'lost']);
    expect(order.indexOf('other')).toBeLessThan(2);
  });

  it('have a queue in which each task learns how many are ahead, whenever it asks', async () => {
    const keeper = openKeeper('q21', 1);
    const ask = (task: string) => keeper.take(request('q21', task));
    await ask('holder');
    for (const [ahead, task] of ['a', 'b', 'c'].entries())
      expect(await ask(task)).toMatchObject({ kind: 'wait', ahead });
    expect(await ask('a')).toMatchObject({ kind: 'wait', ahead: 0 });
    await keeper.release('holder');
    expect(await ask('b')).toMatchObject({ kind: 'wait', ahead: 0 });
    expect(await ask('c')).toMatchObject({ kind: 'wait', ahead: 1 });
  });

  it('are found by a run that starts over, and expire when their holder is gone', async () => {
    const keeper = openKeeper('q3', 1);
    expect((await keeper.take(request('q3', 'first'))).kind).toBe('taken');
    expect((await keeper.take(request('q3', 'first'))).kind).toBe('taken');
    expect((await keeper.take(request('q3', 'second'))).kind).toBe('wait');
    shift = deadlineAt - Date.now() + 11 * 60_000;
    const answer = await keeper.take({ ...request('q3', 'second'), deadlineAt: now() + 1000 });
    shift = 0;
    expect(answer.kind).toBe('taken');
  });

  it('send a task to another credential that has room', async () => {
    const keeper = openKeeper('q4', 1);
    await keeper.take(request('q4', 'first'));
    const others = [{ channel: 'q4b', credential: 'a' }];
    expect(await keeper.take({ ...request('q4', 'second'), others })).toEqual({ kind: 'elsewhere' });
    await keeper.take({ ...request('q4b', 'third') });
    expect((await keeper.take({ ...request('q4', 'second'), others })).kind).toBe('wait');
    woken = [];
    await keeper.release('third');
    expect(woken).toEqual(['second']);
    expect(await keeper.take({ ...request('q4', 'second'), others })).toEqual({ kind: 'elsewhere' });
    const there = { ...request('q4b', 'second'), others: [{ channel: 'q4', credential: 'a' }] };
    expect(await keeper.take(there)).toEqual({ kind: 'taken' });
    expect(await database.db.collection('slot_tickets').countDocuments({ task: 'second' })).toBe(0);
  });

  it('are returned by a task at a candidate that it left, even if the candidate is no longer configured', async () => {
    const keeper = openKeeper('q20', 1);
    await keeper.take(request('q20', 'holder'));
    await keeper.take(request('q20', 'queued'));
    const there = { channel: 'q20', credential: 'a' };
    const unlimited = createSlotKeeper({
      store: createSlotStore(database.db, now),
      limitOf: () => undefined,
      limited: () => [],
      isUsable: () => true,
      wake: async () => undefined,
      now,
      random: () => 0.5,
    });
    for (const task of ['queued', 'holder']) await unlimited.release(task, there);
    expect(await keeper.holders()).not.toContain('holder');
    expect(await database.db.collection('slot_tickets').countDocuments({ queue: 'q20/a' })).toBe(0);
  });

  describe('for calls that cannot wait', () => {
    let calls = 0;
    const processes = (queue: string, limits: number) => {
      const keepers = [openKeeper(queue, limits), openKeeper(queue, limits)] as const;
      const candidate = { channel: queue, credential: 'a' };
      const call = async (account: string): Promise<string | undefined> => {
        const task = `${queue}-${account}${(calls += 1)}`;
        const keeper = keepers[account === 'greedy' ? 0 : 1];
        return (await keeper.tryTake({ task, account, candidate, leaseMs: 60_000 })) ? task : undefined;
      };
      return { call, end: (task = '') => keepers[0].release(task) };
    };

    it('are kept for an account that was rejected while others hold more', async () => {
      const { call, end } = processes('q30', 4);
      const held = [];
      for (let n = 0; n < 4; n += 1) held.push(await call('greedy'));
      expect(await call('modest')).toBeUndefined();
      await end(held[0]);
      expect(await call('greedy')).toBeUndefined();
      expect(await call('modest')).toBeDefined();
      expect(await call('modest')).toBeUndefined();
      await end(held[1]);
      expect(await call('greedy')).toBeUndefined();
      expect(await call('modest')).toBeDefined();
    });

    it('go to the accounts in turn, even if there is only one slot', async () => {
      const { call, end } = processes('q31', 1);
      let held = await call('greedy');
      for (const [next, other] of [
        ['modest', 'greedy'],
        ['greedy', 'modest'],
        ['modest', 'greedy'],
      ] as const) {
        expect(await call(next)).toBeUndefined();
        await end(held);
        expect(await call(other)).toBeUndefined();
        held = await call(next);
        expect(held).toBeDefined();
      }
    });

    it('are idle for at most ten seconds, whoever is refused a slot that is reserved for another', async () => {
      const { call, end } = processes('q33', 1);
      const held = await call('first');
      expect(await call('greedy')).toBeUndefined();
      shift = 5_000;
      expect(await call('modest')).toBeUndefined();
      await end(held);
      shift = 11_000;
      expect(await call('greedy')).toBeUndefined();
      expect(await call('new')).toBeUndefined();
      shift = 16_000;
      expect(await call('newer')).toBeDefined();
      shift = 0;
    });

    it('all go to one account if no other was rejected in the last ten seconds', async () => {
      const { call, end } = processes('q32', 1);
      const held = await call('greedy');
      expect(await call('modest')).toBeUndefined();
      await end(held);
      shift = 9_000;
      expect(await call('greedy')).toBeUndefined();
      shift = 11_000;
      expect(await call('greedy')).toBeDefined();
      shift = 0;
    });
  });

  it('are reserved for the task that was granted one while it was elsewhere', async () => {
    const keeper = openKeeper('q9', 1);
    const here = [{ channel: 'q9', credential: 'a' }];
    const hasRoom = (task: string) => keeper.anyHasRoom({ task, model: 'm' }, here);
    await keeper.take(request('q9', 'holder'));
    expect((await keeper.take(request('q9', 'waiting'))).kind).toBe('wait');
    expect([await hasRoom('waiting'), await hasRoom('other')]).toEqual([false, false]);
    await keeper.release('holder');
    expect([await hasRoom('waiting'), await hasRoom('other')]).toEqual([true, false]);
    expect(await keeper.take(request('q9', 'waiting'))).toEqual({ kind: 'taken' });
  });

  it('are returned elsewhere by an admitted task, as are its positions in the queues', async () => {
    const keeper = openKeeper('q10', 1);
    const there = { ...request('q10b', 'guest'), others: [{ channel: 'q10', credential: 'a' }] };
    const placesOf = async (task: string) => ({
      slots: (await createSlotStore(database.db, now).heldBy(task)).map(({ queue }) => queue),
      tickets: await database.db.collection('slot_tickets').countDocuments({ task }),
    });
    await keeper.take(request('q10', 'guest'));
    expect(await keeper.take(there)).toEqual({ kind: 'taken' });
    expect(await placesOf('guest')).toEqual({ slots: ['q10b/a'], tickets: 0 });
    await keeper.take(request('q10', 'holder'));
    const late = { ...request('q10', 'late'), others: [there.candidate] };
    expect((await keeper.take(late)).kind).toBe('wait');
    expect(await placesOf('late')).toEqual({ slots: [], tickets: 2 });
    await keeper.release('holder');
    shift = 121_000;
    await keeper.take(request('q10', 'brief'));
    await keeper.release('brief');
    expect(await placesOf('late')).toEqual({ slots: [], tickets: 1 });
    expect(await keeper.take({ ...late, hasWaited: true })).toEqual({ kind: 'taken' });
    shift = 0;
    expect(await placesOf('late')).toEqual({ slots: ['q10/a'], tickets: 0 });
  });

  it('are not kept for a task that went to a channel without a limit', async () => {
    const keeper = openKeeper('q11', 1);
    const nothing = async () => undefined;
    const circuits = { enter: async () => ({ open: false }) as const, report: nothing, leave: nothing };
    const gate = createSubmitGate({ circuits, slots: keeper });
    const free = { channel: 'free', credential: 'a' };
    const { candidate, others: _, ...asked } = request('q11', 'patient');
    const enter = (at: RouteCandidate, candidates: readonly RouteCandidate[]) =>
      gate.pass({ ...asked, hasWaited: true, candidate: at, candidates, submitMs: 1_000 }, nothing);
    await keeper.take(request('q11', 'holder'));
    expect(await enter(candidate, [candidate])).toMatchObject({ refused: { kind: 'full' } });
    expect(await enter(candidate, [candidate, free])).toEqual({ refused: { kind: 'elsewhere' } });
    expect(await enter(free, [candidate, free])).toEqual({ sent: undefined });
    woken = [];
    await keeper.release('holder');
    expect(woken).toEqual([]);
    expect(await keeper.take(request('q11', 'next'))).toEqual({ kind: 'taken' });
  });

  it('are not missed by a task whose slot became free between its check and its queue entry', async () => {
    const [keeper, other] = [openKeeper('q6', 1), openKeeper('q6', 1)];
    await other.take(request('q6', 'holder'));
    const paused = pauseFirstAt('slots.queue', 'late');
    const answer = keeper.take(request('q6', 'late'));
    await paused.reached;
    woken = [];
    await other.release('holder');
    expect(woken).toEqual([]);
    paused.release();
    expect(await answer).toEqual({ kind: 'taken' });
    expect((await other.take(request('q6', 'next'))).kind).toBe('wait');
  });

  it('go to the next task although another was about to queue, and that one is woken afterwards', async () => {
    const [keeper, other] = [openKeeper('q7', 1), openKeeper('q7', 1)];
    await other.take(request('q7', 'holder'));
    const paused = pauseFirstAt('slots.queue', 'late');
    const answer = keeper.take(request('q7', 'late'));
    await paused.reached;
    expect((await other.take(request('q7', 'next'))).kind).toBe('wait');
    woken = [];
    await other.release('holder');
    expect(woken).toEqual(['next']);
    paused.release();
    expect((await answer).kind).toBe('wait');
    expect(await other.take(request('q7', 'next'))).toEqual({ kind: 'taken' });
    await other.release('next');
    expect(woken).toEqual(['next', 'late']);
  });

  it('stay with a task that takes its slot while another process is still granting it', async () => {
    const store = createSlotStore(database.db, now);
    const own = openKeeper('q8', 1);
    let answer: SlotAnswer | undefined;
    const granting = openKeeper('q8', 1, {
      removeTicket: async (task, queue) => {
        answer ??= await own.take(request('q8', task));
        return store.removeTicket(task, queue);
      },
    });
    await own.take(request('q8', 'holder'));
    await own.take(request('q8', 'next'));
    await granting.release('holder');
    expect(answer).toEqual({ kind: 'taken' });
    expect(await store.heldBy('next')).toHaveLength(1);
    expect((await own.take(request('q8', 'third'))).kind).toBe('wait');
  });

  it('cost the same with 10,000 tasks waiting as with ten', async () => {
    const keeper = openKeeper('q5', 1);
    await keeper.take(request('q5', 'holder'));
    for (let n = 0; n < 10; n += 1) await keeper.take(request('q5', `t${n}`, `account${n}`));
    const few = await timeGrants(keeper, 'holder', 5);
    await database.db.collection<{ _id: string }>('slot_tickets').insertMany(
      Array.from({ length: 10_000 }, (_, n) => ({
        _id: `many${n}@q5/a`,
        task: `many${n}`,
        queue: 'q5/a',
        account: 'many',
        order: `${(n + 100).toString().padStart(12, '0')}-x-many${n}`,
        round: n + 100,
        looksAt: now() + 60_000,
        expires: new Date(deadlineAt),
      })),
    );
    let { holder } = few;
    // Polled, because a busy machine can slow down any grant. A grant that read 10,000 documents would never be fast.
    await expect
      .poll(async () => {
        const many = await timeGrants(keeper, holder, 20);
        holder = many.holder;
        return many.ms;
      })
      .toBeLessThan(few.ms * 4 + 10);
    const looks = await openKeeper('q5', 1).take(request('q5', 'many9999', 'many'));
    expect(looks.kind === 'wait' && looks.ms).toBeGreaterThan(300_000);
  });

  async function timeGrants(keeper: SlotKeeper, first: string, count: number) {
    let holder = first;
    let ms = Infinity;
    for (let n = 0; n < count; n += 1) {
      const startedAt = performance.now();
      woken = [];
      await keeper.release(holder);
      holder = woken[0] ?? '';
      await keeper.take(request('q5', holder));
      ms = Math.min(ms, performance.now() - startedAt);
    }
    return { holder, ms };
  }
});
