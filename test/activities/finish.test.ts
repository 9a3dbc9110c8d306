import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FinishInput } from '../../activities/types.ts';
import type { PriceBasis } from '../../src/money/price.ts';
import type { TaskInput } from '../../src/task/input.ts';
import type { Task, TaskOutcome } from '../../src/task/record.ts';
import type { TaskEvent } from '../../src/task/state.ts';
import type { SettleFacts } from '../../src/money/settle-facts.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { LedgerUnavailableError } from '../../src/ledger/ledger-errors.ts';
import { acceptedAttempt, openTaskWorld, type TaskWorld } from './task-support.ts';
import { laggingLedger } from '../support/stale-reads.ts';
import { testLedgerKey } from '../support/sealing.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

const callsFor = (price: string, reviewAbove?: string): PriceBasis => ({
  price: {
    minimum: '0',
    lines: [{ measure: 'call', price }],
    ...(reviewAbove === undefined ? {} : { reviewAbove }),
  },
  facts: {},
  version: 'v',
});
const seconds: PriceBasis = {
  price: { minimum: '0', lines: [{ measure: 'second', price: '0.1' }], reviewAbove: '3' },
  facts: {},
  version: 'v',
};

const reporting = (facts: SettleFacts = {}): TaskOutcome => ({ kind: 'succeeded', items: [], facts });

const succeeding = (basis: PriceBasis, record: Partial<Task> = {}) =>
  world.begun(
    { basis },
    {
      status: 'submitted',
      attempts: [acceptedAttempt(`up-${Math.random()}`)],
      outcome: reporting(),
      state: { at: 'ending', ending: { kind: 'succeeded' } },
      ...record,
    },
  );

const finish = (input: FinishInput) => world.run(() => world.tasks().finishTask(input));
const act = (input: TaskInput, event: TaskEvent) => world.stores.tasks.step(input.task, event);
const kindsOf = async ({ task }: TaskInput) =>
  (await world.ledger.entriesOfTask(task)).map(({ kind }) => kind);
const stateOf = async (input: TaskInput) => (await world.record(input)).state;
const balanceOf = ({ account }: TaskInput) => world.ledger.balance(account);

describe('a charge above the multiple of its hold', () => {
  it('asks an operator and is not settled, however often it is requested', async () => {
    const input = await succeeding(callsFor('5', '3'));
    for (const repeated of [1, 2]) {
      const { state } = await finish(input);
      expect([repeated, state]).toEqual([repeated, { at: 'review', charge: '5000000', why: 'above_hold' }]);
    }
    expect(await kindsOf(input)).toEqual(['hold']);
    expect(await world.record(input)).toMatchObject({ status: 'submitted', attention: 'charge_review' });
  });

  it('asks an operator from three times the hold if nothing is configured', async () => {
    const [much, enough] = [await succeeding(callsFor('3.000001')), await succeeding(callsFor('3'))];
    expect((await finish(much)).state).toEqual({ at: 'review', charge: '3000001', why: 'above_hold' });
    expect(await finish(enough)).toMatchObject({ status: 'succeeded', charge: '3000000' });
  });

  it('is settled at once if the price disables the check', async () => {
    const input = await succeeding(callsFor('9', 'none'));
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '9000000' });
  });

  it('is settled in full once it was accepted, and a reset does not ask again', async () => {
    const input = await succeeding(callsFor('5', '3'));
    await finish(input);
    await act(input, { kind: 'approved' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(await world.record(input)).not.toHaveProperty('attention');
  });

  it('that was settled before the outcome was written needs no decision', async () => {
    const input = await succeeding(callsFor('5', '3'));
    await world.ledger.settle({
      account: input.account,
      task: input.task,
      held: 1_000_000n,
      amount: 5_000_000n,
    });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '5000000' });
  });

  it('keeps the task in its key’s limit until it has ended', async () => {
    const released: string[] = [];
    const release = async (_key: string, task: string) => void released.push(task);
    const keySlots = { ...world.stores.keySlots, release };
    const input = await succeeding(callsFor('5', '3'));
    await world.run(() => world.tasks({ keySlots }).finishTask(input));
    expect(released).toEqual([]);
    await act(input, { kind: 'approved' });
    await world.run(() => world.tasks({ keySlots }).finishTask(input));
    expect(released).toEqual([input.task]);
  });
});

it('when repeated, returns slots that the previous run has not returned', async () => {
  const input = await succeeding(seconds);
  const { slots, keySlots } = world.stores;
  const given: string[] = [];
  const down = async () => Promise.reject(new Error('no answer'));
  await expect(
    world.run(() => world.tasks({ slots: { ...slots, release: down } }).finishTask(input)),
  ).rejects.toThrow('no answer');
  expect(await stateOf(input)).toMatchObject({ at: 'ended' });
  const noted = {
    slots: { ...slots, release: async (task: string) => void given.push(`slot ${task}`) },
    keySlots: { ...keySlots, release: async (_: string, task: string) => void given.push(`key ${task}`) },
  };
  const after = await world.run(() => world.tasks(noted).finishTask(input));
  expect(given).toEqual([`slot ${input.task}`, `key ${input.task}`]);
  expect(after).toMatchObject({ status: 'succeeded' });
  expect(await kindsOf(input)).toEqual(['hold', 'settle']);
});

it('when repeated, returns the slot of a task that already waits for an operator', async () => {
  const input = await succeeding(callsFor('5', '3'));
  const { slots } = world.stores;
  const down = async () => Promise.reject(new Error('no answer'));
  await expect(
    world.run(() => world.tasks({ slots: { ...slots, release: down } }).finishTask(input)),
  ).rejects.toThrow('no answer');
  expect(await stateOf(input)).toMatchObject({ at: 'review' });
  const given: string[] = [];
  const noted = { ...slots, release: async (task: string) => void given.push(task) };
  await world.run(() => world.tasks({ slots: noted }).finishTask(input));
  expect(given).toEqual([input.task]);
});

describe('a charge for more than the request and its model allow', () => {
  const forFive: PriceBasis = { ...seconds, facts: { duration: 5 }, most: { seconds: 5 } };
  const outcome = reporting({ durationSeconds: 14 });

  it('asks an operator, who sees the charge and may accept it', async () => {
    const input = await succeeding(forFive, { outcome });
    const review = { at: 'review', charge: '1400000', why: 'beyond_request' };
    expect((await finish(input)).state).toEqual(review);
    expect(await kindsOf(input)).toEqual(['hold']);
    await act(input, { kind: 'approved' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '1400000' });
  });

  it('is charged in full without a decision if the price says so', async () => {
    const trusting = { ...forFive, price: { ...forFive.price, reviewAbove: 'none' } };
    const input = await succeeding(trusting, { outcome });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '1400000' });
  });
});

describe('numbers that contradict each other', () => {
  const tokens: PriceBasis = {
    price: { minimum: '0', lines: [{ measure: 'million_tokens', price: '7' }] },
    facts: {},
    version: 'v',
  };
  const outcome = reporting({ usage: { completionTokens: 1, totalTokens: 108_900 } });

  it('ask an operator, who may accept the charge', async () => {
    const input = await succeeding(tokens, { outcome });
    expect((await finish(input)).state).toEqual({ at: 'review', charge: '7', why: 'contradictory' });
    expect(await kindsOf(input)).toEqual(['hold']);
    await act(input, { kind: 'approved' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '7' });
  });

  it('are charged at the amount that an operator accepted, even if a later result differs', async () => {
    const input = await succeeding(tokens, { outcome });
    await act(input, { kind: 'reviewed', charge: '5', why: 'contradictory' });
    await act(input, { kind: 'approved' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '5' });
    const completed = await succeeding(tokens, { outcome });
    await finish(completed);
    const facts = { usage: { completionTokens: 1, totalTokens: 108_900 } };
    await act(completed, {
      kind: 'completed',
      outcome: { kind: 'succeeded', items: [], facts },
      charge: '4',
    });
    expect(await finish(completed)).toMatchObject({ status: 'succeeded', charge: '4' });
  });

  it.each([
    ['of an image', tokens, { kind: 'image' }],
    ['where nobody is asked', { ...tokens, price: { ...tokens.price, reviewAbove: 'none' } }, {}],
  ] as const)('ask nobody %s', async (_, basis, record) => {
    const input = await succeeding(basis, { outcome, ...record });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '7' });
  });
});

describe('a charge that is too large for the ledger', () => {
  const endless = { outcome: reporting({ durationSeconds: 1e12 }) };
  const hostile: PriceBasis = {
    ...seconds,
    price: { ...seconds.price, lines: [{ measure: 'second', price: '10' }] },
  };
  const asked = { at: 'review', charge: '10000000000000000000', why: 'unwritable' };

  it.each(['3', 'none'])(
    'asks an operator, who cannot accept it (reviewed above %s)',
    async (reviewAbove) => {
      const input = await succeeding({ ...hostile, price: { ...hostile.price, reviewAbove } }, endless);
      expect((await finish(input)).state).toEqual(asked);
      expect(await act(input, { kind: 'approved' })).toMatchObject({
        ok: false,
        message: expect.stringMatching(/complete/),
      });
      expect([await stateOf(input), await kindsOf(input)]).toEqual([asked, ['hold']]);
    },
  );

  it('is replaced by the charge with which an operator completes the task', async () => {
    const input = await succeeding(hostile, endless);
    await finish(input);
    const outcome = { kind: 'succeeded', items: [], facts: { durationSeconds: 5 } } as const;
    await act(input, { kind: 'completed', outcome, charge: '50000000' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '50000000' });
    expect((await balanceOf(input)).held).toBe(0n);
  });

  it('is not charged if an operator fails the task', async () => {
    const input = await succeeding(hostile, endless);
    await finish(input);
    await act(input, { kind: 'wanted', stop: 'fail' });
    expect(await finish(input)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect([await kindsOf(input), (await balanceOf(input)).held]).toEqual([['hold', 'release'], 0n]);
  });
});

describe('a settlement that fails however often it is repeated', () => {
  const byTokens: PriceBasis = {
    price: { minimum: '0', lines: [{ measure: 'million_tokens', price: '7' }] },
    facts: {},
    version: 'v',
  };
  const sized = reporting({ resolution: '720p', ratio: '16:9', durationSeconds: 5 });
  const unsealable = {
    find: () => Promise.reject(new Error('the key of the request is gone')),
    isForgotten: () => false,
  } as never;
  const channels = (() => ({ provider: {}, config: { models: {} } })) as never;
  const withoutKey = (input: FinishInput) =>
    world.run(() => world.tasks({ requests: unsealable, channels }).finishTask(input));
  const unsettled = { at: 'review', why: 'unsettled' };

  it('asks an operator if the request cannot be opened, until its key is back', async () => {
    const input = await succeeding(byTokens, { outcome: sized });
    expect((await withoutKey(input)).state).toEqual(unsettled);
    expect(await world.record(input)).toMatchObject({ attention: 'charge_review' });
    expect(await act(input, { kind: 'approved' })).toMatchObject({ ok: false });
    await act(input, { kind: 'resumed' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '1000000' });
  });

  it('is ended by an operator, or by the deadline', async () => {
    for (const stop of ['fail', 'expire'] as const) {
      const input = await succeeding(byTokens, { outcome: sized });
      await withoutKey(input);
      await world.rewrite(input.task, { deadlineAt: Date.now() });
      await act(input, { kind: 'wanted', stop });
      expect([stop, await withoutKey(input)]).toMatchObject([stop, { status: 'failed' }]);
      expect([await kindsOf(input), (await balanceOf(input)).held]).toEqual([['hold', 'release'], 0n]);
    }
  });

  it('ends a task whose cost cannot be computed, with an unknown cost', async () => {
    const terms = { price: byTokens.price, worths: {}, failed: 'billed' } as const;
    const attempts = [{ ...acceptedAttempt(`up-${Math.random()}`), terms }];
    const outcome = { kind: 'failed', code: 'x', message: 'x: it broke' } as const;
    const state = { at: 'ending', ending: { kind: 'failed' } } as const;
    const input = await succeeding(byTokens, { attempts, outcome, state, seconds: 5 });
    expect(await withoutKey(input)).toMatchObject({ status: 'failed' });
    expect(await world.record(input)).toMatchObject({ cost: 0n, costUnknown: 1 });
  });

  it('asks an operator if the hold differs from the record, and a failure ends it', async () => {
    const input = await succeeding(callsFor('1'), { hold: 999_999n });
    expect((await finish(input)).state).toEqual(unsettled);
    expect(world.logged.join('\n')).toContain('but 1000000 is held on');
    await act(input, { kind: 'wanted', stop: 'fail' });
    expect(await finish(input)).toMatchObject({ status: 'failed' });
    expect([await kindsOf(input), (await balanceOf(input)).held]).toEqual([['hold', 'release'], 0n]);
  });

  it('is repeated if the database is at fault', async () => {
    const away = Object.assign(new Error('connection 1 closed'), { syscall: 'read' });
    const requests = { find: () => Promise.reject(away), isForgotten: () => false } as never;
    const input = await succeeding(byTokens, { outcome: sized });
    const finishing = world.run(() => world.tasks({ requests, channels }).finishTask(input));
    await expect(finishing).rejects.toBe(away);
    const ledger = {
      ...world.ledger,
      settle: () => Promise.reject(new LedgerUnavailableError('no answer', away)),
    };
    await expect(world.run(() => world.tasks({ ledger }).finishTask(input))).rejects.toThrow('no answer');
    expect(await stateOf(input)).toEqual({ at: 'ending', ending: { kind: 'succeeded' } });
  });
});

describe('a failed task whose hold is another account’s, according to the ledger', () => {
  const error = { code: 'task_expired', message: 'Too late.' } as const;
  const ending = { at: 'ending', ending: { kind: 'failed', error } } as const;
  const contradicted = async () => {
    const input = await succeeding(callsFor('1'), { state: ending });
    const { account } = await world.newTask();
    await world.rewrite(input.task, { account, deadlineAt: Date.now() });
    return input;
  };

  it('asks an operator, who can end it, while the deadline cannot', async () => {
    const input = await contradicted();
    expect((await finish(input)).state).toEqual({ at: 'review', why: 'unreleased', error });
    expect(await world.record(input)).toMatchObject({ attention: 'charge_review' });
    expect(await act(input, { kind: 'wanted', stop: 'expire' })).toMatchObject({
      ok: false,
      code: 'not_now',
    });
    await act(input, { kind: 'wanted', stop: 'fail' });
    expect(await finish(input)).toMatchObject({ status: 'failed', charge: '0', error: { code: error.code } });
    // The hold stays where it is, because `ledger verify` reports this contradiction.
    expect(await kindsOf(input)).toEqual(['hold']);
  });

  it('ends if its workflow is closed, because no operator can be asked any more', async () => {
    const input = await contradicted();
    world.workflows.closed.add(input.task);
    const reconciled = async () => {
      world.clock.aheadMs += 3 * 60_000;
      return world.run(reconcileTasks);
    };
    const { reconcileTasks } = world.tasks();
    await reconciled();
    await reconciled();
    expect(await world.record(input)).toMatchObject({ status: 'failed' });
  });
});

describe('the ledger takes precedence over the record', () => {
  const failing = { state: { at: 'ending', ending: { kind: 'failed' } } } as const;

  it('a hold that was voided before it was taken: the task fails without an exception', async () => {
    const input = await succeeding(callsFor('1'));
    const never = { ...input, task: `${input.task}0` };
    await world.ledger.void({ account: input.account, task: never.task });
    const { id: _, ...record } = await world.record(input);
    await world.stores.tasks.insert({ ...record, id: never.task, attempts: [] });
    expect(await finish(never)).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
      charge: '0',
    });
  });

  it('nothing was ever held: the task fails, and nothing can be held for it afterwards', async () => {
    const input = await succeeding(callsFor('1'));
    const never = { ...input, task: `${input.task}0` };
    const { id: _, ...record } = await world.record(input);
    await world.stores.tasks.insert({ ...record, id: never.task, attempts: [] });
    expect(await finish(never)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    const late = {
      account: input.account,
      task: never.task,
      by: { key: 'key_1', model: 'video-1' },
      amount: 1n,
      basis: '{}',
      overdraftLimit: 0n,
    };
    expect(await world.ledger.hold(late)).toEqual({ ok: false, refused: 'voided' });
  });

  it('released before: a success is a failure, and costs nothing', async () => {
    const input = await succeeding(callsFor('1'));
    await world.ledger.release({ account: input.account, task: input.task, held: 1_000_000n });
    expect(await finish(input)).toMatchObject({ status: 'failed', charge: '0' });
    expect(await kindsOf(input)).toEqual(['hold', 'release']);
  });

  it('settled before: a failure is a success at that charge', async () => {
    const input = await succeeding(callsFor('1'), failing);
    await world.ledger.settle({
      account: input.account,
      task: input.task,
      held: 1_000_000n,
      amount: 1_500_000n,
    });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '1500000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
  });

  it('a failure releases the hold once, however often it is written', async () => {
    const outcome = { kind: 'failed', code: 'x', message: 'x: it broke' } as const;
    const input = await succeeding(callsFor('1'), { ...failing, outcome });
    for (const repeated of [1, 2]) {
      const ended = await finish(input);
      expect([repeated, ended]).toMatchObject([
        repeated,
        { status: 'failed', error: { code: 'provider_error' } },
      ]);
    }
    expect(await kindsOf(input)).toEqual(['hold', 'release']);
    expect(await world.record(input)).toMatchObject({
      error: { message: 'x: it broke', class: expect.any(String) },
    });
  });
});

it('a job that replaces a failed one is never charged above the hold, and no operator is asked', async () => {
  const first = { ...acceptedAttempt('up-failed-first'), state: 'failed' } as const;
  const attempts = [first, { ...acceptedAttempt('up-second'), n: 2 }];
  const input = await succeeding(callsFor('5', '3'), { attempts });
  expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '1000000' });
  expect(await kindsOf(input)).toEqual(['hold', 'settle']);
});

it('a task that succeeded is charged, although reads just after an election miss its hold', async () => {
  const collection = await laggingLedger(world.db);
  const input = await succeeding(callsFor('0.5'));
  const ledger = createLedger({ collection, key: testLedgerKey, now: Date.now });
  const finished = await world.run(() => world.tasks({ ledger }).finishTask(input));
  expect(finished).toMatchObject({ status: 'succeeded', charge: '500000' });
  expect(await kindsOf(input)).toEqual(['hold', 'settle']);
});

it('a task whose end is not decided is left unchanged', async () => {
  const input = await world.begun(
    {},
    { state: { at: 'waiting', n: 1 }, attempts: [acceptedAttempt('up-running')] },
  );
  expect((await finish(input)).state).toEqual({ at: 'waiting', n: 1 });
  expect(await kindsOf(input)).toEqual(['hold']);
});

describe('what a task cost its operator', () => {
  const terms = { price: callsFor('0.4').price, worths: { USD: '1' } };
  const billed = () => ({ attempts: [{ ...acceptedAttempt(`up-${Math.random()}`), terms }] });
  const costOf = async ({ task }: TaskInput) => (await world.ledger.entriesOfTask(task)).at(-1)?.upstream;

  it('is written with its end to ledger and record, by the terms of its submission', async () => {
    const sold = { ...callsFor('1'), channels: { ark: callsFor('0.8').price } };
    const input = await succeeding(sold, billed());
    await finish(input);
    const cost = { model: (await world.record(input)).model, channel: 'ark', cost: 400_000n, unknown: 0 };
    expect(await costOf(input)).toEqual(cost);
    expect(await world.record(input)).toMatchObject({ charge: 800_000n, cost: 400_000n });
    expect(await world.record(input)).not.toHaveProperty('costUnknown');
  });

  it('stays as the ledger has it when the task is finished a second time', async () => {
    const input = await succeeding(callsFor('1'), billed());
    const { account, hold: held } = await world.record(input);
    const upstream = { model: 'm', channel: 'ark', cost: 7n, unknown: 2 };
    await world.ledger.settle({ account, task: input.task, held, amount: 1_000_000n, upstream });
    await finish(input);
    expect(await world.record(input)).toMatchObject({ charge: 1_000_000n, cost: 7n, costUnknown: 2 });
    const failing = { at: 'ending', ending: { kind: 'failed' } } as const;
    const failed = await world.begun({ basis: callsFor('1') }, { ...billed(), state: failing });
    const of = await world.record(failed);
    await world.ledger.release({ account: of.account, task: failed.task, held: of.hold, upstream });
    await finish(failed);
    expect(await world.record(failed)).toMatchObject({ charge: 0n, cost: 7n, costUnknown: 2 });
  });

  it('is unknown for a failed task whose submission was lost, and counted when its hold is released', async () => {
    const lost = { ...acceptedAttempt(`up-${Math.random()}`), state: 'abandoned' } as const;
    const { operation: _, ...attempt } = lost;
    const counted: [bigint, unknown][] = [];
    const metrics = {
      countEnded: () => undefined,
      countMargin: (...margin: [bigint, unknown]) => void counted.push(margin),
    };
    const failing = { at: 'ending', ending: { kind: 'failed' } } as const;
    const input = await world.begun({ basis: callsFor('1') }, { attempts: [attempt], state: failing });
    await world.run(() => world.tasks({ metrics }).finishTask(input));
    expect(await costOf(input)).toMatchObject({ channel: 'ark', cost: 0n, unknown: 1 });
    expect(await world.record(input)).toMatchObject({ cost: 0n, costUnknown: 1 });
    expect(counted).toEqual([[0n, await costOf(input)]]);
  });
});
