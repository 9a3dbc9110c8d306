import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FinishInput } from '../../activities/types.ts';
import type { PriceBasis } from '../../src/domain/price.ts';
import type { TaskInput } from '../../src/domain/task-input.ts';
import type { Task, TaskOutcome } from '../../src/domain/task-record.ts';
import type { TaskEvent } from '../../src/domain/task-state.ts';
import type { SettleFacts } from '../../src/domain/task.ts';
import { acceptedAttempt, openTaskWorld } from './task-support.ts';
import type { TaskWorld } from './task-support.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

/** One call costs this, and 1.00 is held. */
const callsFor = (price: string, reviewAbove?: string): PriceBasis => ({
  price: {
    unit: 'call',
    minimum: '0',
    rules: [{ price }],
    ...(reviewAbove === undefined ? {} : { reviewAbove }),
  },
  facts: {},
  version: 'v',
});
const seconds: PriceBasis = {
  price: { unit: 'second', minimum: '0', rules: [{ price: '0.1' }], reviewAbove: '3' },
  facts: {},
  version: 'v',
};

const reporting = (facts: SettleFacts = {}): TaskOutcome => ({ kind: 'succeeded', items: [], facts });

/** Its upstream has reported success, and the money is to be written. */
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
  it('asks a person and is not settled, as often as it is asked for', async () => {
    const input = await succeeding(callsFor('5', '3'));
    for (const repeated of [1, 2]) {
      const { state } = await finish(input);
      expect([repeated, state]).toEqual([repeated, { at: 'review', charge: '5000000', why: 'above_hold' }]);
    }
    expect(await kindsOf(input)).toEqual(['hold']);
    expect(await world.record(input)).toMatchObject({ status: 'submitted', attention: 'charge_review' });
  });

  it('asks a person without any configuration, from three times the hold', async () => {
    const [much, enough] = [await succeeding(callsFor('3.000001')), await succeeding(callsFor('3'))];
    expect((await finish(much)).state).toEqual({ at: 'review', charge: '3000001', why: 'above_hold' });
    expect(await finish(enough)).toMatchObject({ status: 'succeeded', charge: '3000000' });
  });

  it('is settled at once where the price says that nobody is asked', async () => {
    const input = await succeeding(callsFor('9', 'none'));
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '9000000' });
  });

  it('is settled in full once it was accepted, and is not asked about after a reset', async () => {
    const input = await succeeding(callsFor('5', '3'));
    await finish(input);
    await act(input, { kind: 'approved' });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '5000000' });
    expect(await kindsOf(input)).toEqual(['hold', 'settle', 'charge_extra']);
    expect(await world.record(input)).not.toHaveProperty('attention');
  });

  it('that was settled before its end was written is not asked about', async () => {
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

describe('a charge that no ledger can hold', () => {
  const endless = { outcome: reporting({ durationSeconds: 1e12 }) };
  /** 10^13 currency units. */
  const hostile: PriceBasis = { ...seconds, price: { ...seconds.price, rules: [{ price: '10' }] } };
  const asked = { at: 'review', charge: '10000000000000000000', why: 'unwritable' };

  it.each(['3', 'none'])('asks a person, who cannot accept it (reviewed above %s)', async (reviewAbove) => {
    const input = await succeeding({ ...hostile, price: { ...hostile.price, reviewAbove } }, endless);
    expect((await finish(input)).state).toEqual(asked);
    expect(await act(input, { kind: 'approved' })).toMatchObject({
      ok: false,
      message: expect.stringMatching(/complete/),
    });
    expect([await stateOf(input), await kindsOf(input)]).toEqual([asked, ['hold']]);
  });

  it('is replaced by what a person completes the task with', async () => {
    const input = await succeeding(hostile, endless);
    await finish(input);
    const outcome = { kind: 'succeeded', items: [], facts: { durationSeconds: 5 } } as const;
    await act(input, { kind: 'completed', outcome });
    expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '50000000' });
    expect((await balanceOf(input)).held).toBe(0n);
  });

  it('is charged to nobody where a person fails the task', async () => {
    const input = await succeeding(hostile, endless);
    await finish(input);
    await act(input, { kind: 'wanted', stop: 'fail' });
    expect(await finish(input)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect([await kindsOf(input), (await balanceOf(input)).held]).toEqual([['hold', 'release'], 0n]);
  });
});

describe('what the ledger says of the task wins', () => {
  const failing = { state: { at: 'ending', ending: { kind: 'failed' } } } as const;

  it('a hold that was voided before it was taken: the task fails, and nothing throws', async () => {
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
    const late = { account: input.account, task: never.task, amount: 1n, basis: '{}', overdraftLimit: 0n };
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

it('a job in place of a failed one is never charged above the hold, and nobody is asked', async () => {
  const first = { ...acceptedAttempt('up-failed-first'), state: 'failed' } as const;
  const attempts = [first, { ...acceptedAttempt('up-second'), n: 2 }];
  const input = await succeeding(callsFor('5', '3'), { attempts });
  expect(await finish(input)).toMatchObject({ status: 'succeeded', charge: '1000000' });
  expect(await kindsOf(input)).toEqual(['hold', 'settle']);
});

it('a task whose end is not decided is left as it is', async () => {
  const input = await world.begun(
    {},
    { state: { at: 'waiting', n: 1 }, attempts: [acceptedAttempt('up-running')] },
  );
  expect((await finish(input)).state).toEqual({ at: 'waiting', n: 1 });
  expect(await kindsOf(input)).toEqual(['hold']);
});
