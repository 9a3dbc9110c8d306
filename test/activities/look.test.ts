import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStores } from '../../src/store/stores.ts';
import { testSealing } from '../support/sealing.ts';
import { staleReads } from '../support/stale-reads.ts';
import { acceptedAttempt, openTaskWorld, tryOf, type TaskWorld } from './task-support.ts';

let world: TaskWorld;
beforeAll(async () => {
  world = await openTaskWorld();
});
afterAll(() => world.close());

const ark = { channel: 'ark', credential: 'a' };
const channels = ((name: string) => (name === 'ark' ? { config: { credentials: [] } } : undefined)) as never;
const lookAt = ({ task, account }: { readonly task: string; readonly account: string }) =>
  world.run(() => world.tasks({ channels }).lookAtTask(task, account));
const kindsOf = async (task: string) => (await world.ledger.entriesOfTask(task)).map(({ kind }) => kind);
const heldBy = async (account: string) => (await world.ledger.balance(account)).held;

it('a task that was created is submitted, and reading its record changes nothing', async () => {
  const input = await world.newTask();
  const before = await world.record(input);
  expect(await lookAt(input)).toMatchObject({
    rev: 0,
    state: { at: 'creating', left: [ark] },
  });
  expect(await world.record(input)).toEqual(before);
});

it('an abandoned creation does not become a task, at whichever step it was abandoned', async () => {
  const input = await world.newTask();
  const tryId = tryOf(await world.record(input));
  await world.stores.tasks.step(input.task, { kind: 'abandoned', tryId });
  expect((await lookAt(input)).state).toEqual({ at: 'ended', abandoned: expect.any(String) });
  await world.ledger.void({ account: input.account, task: input.task });
  expect((await lookAt(input)).state).toEqual({ at: 'ended', abandoned: expect.any(String) });
  await world.stores.tasks.removeAbandoned(input.task);
  expect((await lookAt(input)).state).toEqual({ at: 'ended', abandoned: expect.any(String) });
  expect(await world.stores.tasks.find(input.task)).toBeUndefined();
});

it('the first step of a task ends the time in which its creator may abandon it', async () => {
  const input = await world.newTask();
  const tryId = tryOf(await world.record(input));
  const sending = { kind: 'sending', candidate: ark, owner: 'o', marker: 'm' } as const;
  expect((await world.stores.tasks.step(input.task, sending)).ok).toBe(true);
  const given = await world.stores.tasks.step(input.task, { kind: 'abandoned', tryId });
  expect(given).toMatchObject({ ok: false, code: 'decided' });
});

it('after a reset the task continues with the job that it has, whatever the clock says', async () => {
  const job = {
    attempts: [acceptedAttempt('up-1')],
    state: { at: 'waiting', n: 1 },
    status: 'submitted',
  } as const;
  const input = await world.begun({ deadlineAt: Date.now() - 1 }, job);
  expect(await lookAt(input)).toMatchObject({
    state: { at: 'waiting', n: 1 },
    upstreamId: 'up-1',
    attempt: { n: 1, ...ark, upstreamId: 'up-1' },
  });
  expect(await heldBy(input.account)).toBe(1_000_000n);
});

it('after a reset of a task that has ended finds its end', async () => {
  const input = await world.newTask();
  await world.rewrite(input.task, { deadlineAt: Date.now() });
  await world.run(() => world.tasks().stepTask(input.task, { kind: 'wanted', stop: 'expire' }));
  await world.run(() => world.tasks().finishTask(input));
  expect(await lookAt(input)).toMatchObject({
    state: { at: 'ended' },
    status: 'failed',
    error: { code: 'task_expired' },
  });
});

it('while the database clock has jumped, the time left is unknown, and nothing expires', async () => {
  const input = await world.newTask();
  await world.rewrite(input.task, { deadlineAt: Date.now() });
  const before = await world.record(input);
  const expire = { kind: 'wanted', stop: 'expire' } as const;
  const { task, account } = input;
  const jumped = world.tasks({ channels, isTimeRight: () => false });
  expect(await world.run(() => jumped.lookAtTask(task, account))).not.toHaveProperty('remainingMs');
  const view = await world.run(() => jumped.stepTask(task, expire));
  expect(view).toMatchObject({ rev: before.rev, state: before.state });
  expect(view).not.toHaveProperty('remainingMs');
  expect(await world.record(input)).toEqual(before);
  const right = await world.run(() => world.tasks({ channels }).stepTask(task, expire));
  expect(right).toMatchObject({ state: { at: 'ending' }, remainingMs: expect.any(Number) });
});

it('a hold without a record is released, and no other can be taken', async () => {
  const input = await world.newTask();
  await world.drop(input.task);
  expect((await lookAt(input)).state).toEqual({ at: 'ended', abandoned: expect.any(String) });
  expect([await kindsOf(input.task), await heldBy(input.account)]).toEqual([['hold', 'release'], 0n]);
  const never = { task: `${input.task}0`, account: input.account };
  expect((await lookAt(never)).state).toEqual({ at: 'ended', abandoned: expect.any(String) });
  const late = {
    ...never,
    by: { key: 'key_1', model: 'video-1' },
    amount: 1n,
    basis: '{}',
    overdraftLimit: 0n,
  };
  expect(await world.ledger.hold(late)).toEqual({ ok: false, refused: 'voided' });
});

it('a record that a stale read misses still exists: its hold is not released', async () => {
  const stale = createStores(await staleReads(world.db, ['tasks']), Date.now, testSealing);
  const input = await world.newTask();
  expect(await stale.tasks.find(input.task)).toBeUndefined();
  const { task, account } = input;
  const { state } = await world.run(() =>
    world.tasks({ tasks: stale.tasks, channels }).lookAtTask(task, account),
  );
  expect(state.at).toBe('creating');
  expect([await kindsOf(task), await heldBy(account)]).toEqual([['hold'], 1_000_000n]);
});

it('a channel that is gone is removed from the round, and an operator is asked', async () => {
  const gone = { channel: 'gone', credential: 'a' };
  const input = await world.newTask({ candidates: [gone, ark] });
  expect((await lookAt(input)).state).toMatchObject({ at: 'queued', left: [ark] });
  expect(await world.record(input)).toMatchObject({ concern: 'channel_gone' });
});

it('a worker that could not load the newest configuration skips a channel only if no other worker serves it', async () => {
  const served = { channel: 'served', credential: 'a' };
  const input = await world.newTask({ candidates: [{ channel: 'gone', credential: 'a' }, served] });
  const unserved = (channel?: string) => (channel === 'gone' ? { channel } : undefined);
  const behind = { channels, isConfigCurrent: () => false, workers: async () => ({ unserved }) };
  const { task, account } = input;
  const { state } = await world.run(() => world.tasks(behind).lookAtTask(task, account));
  expect(state).toMatchObject({ at: 'queued', left: [served] });
  expect(await world.record(input)).not.toHaveProperty('concern');
});

it('a task that has no other channel waits until there is one', async () => {
  const input = await world.newTask({ candidates: [{ channel: 'gone', credential: 'a' }] });
  expect((await lookAt(input)).state).toMatchObject({ at: 'pausing', round: 1 });
});
