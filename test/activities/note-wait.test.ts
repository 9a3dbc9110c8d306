import { MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { SubmitInput } from '../../activities/types.ts';
import type { SubmitRefusal } from '../../src/capacity/submit-gate.ts';
import { noMediaUrl } from '../../src/models/stored-media.ts';
import type { Task } from '../../src/task/record.ts';
import { waitMessages } from '../../src/task/wait-reason.ts';
import { presentTask } from '../../src/http/presenters/video-task.ts';
import { again, openActivityWorld, openGate } from './support.ts';
import type { ActivityWorld } from './support.ts';

let world: ActivityWorld;
beforeAll(async () => {
  world = await openActivityWorld();
});
afterAll(() => world.close());

let count = 0;
const newTask = (marks = ''): Promise<SubmitInput> => world.newTask(`waits-${(count += 1)}-end ${marks}`);

async function find({ task }: SubmitInput): Promise<Task> {
  const found = await world.tasks.find(task);
  if (found === undefined) throw new Error('no task');
  return found;
}

const messageOf = async (input: SubmitInput) => presentTask(await find(input), noMediaUrl).message;

const gate = (refusal: SubmitRefusal): Pick<ChannelActivityDeps, 'gate'> => ({
  gate: { ...openGate, enter: async () => refusal },
});

const turn: Pick<ChannelActivityDeps, 'submitLimiter'> = {
  submitLimiter: () => ({ enter: async () => 5_000, giveBack: () => undefined }),
};

it.each([
  ['slot', 'AtConcurrencyLimit', '', gate({ kind: 'full', ms: 5_000 })],
  ['upstream', 'NotAccepted', '', gate({ kind: 'circuit_open', retryAfterMs: 5_000, detail: 'open' })],
  ['upstream', 'NotAccepted', '[sim:429*1]', {}],
  ['turn', 'WaitsForItsTurn', '', turn],
] as const)('GET says that a task waits: %s (%s %s)', async (reason, type, marks, deps) => {
  const input = await newTask(marks);
  await expect(world.worker(deps).submit(input)).rejects.toMatchObject({ type });
  expect(await messageOf(input)).toBe(waitMessages[reason]);

  const known = await find(input);
  await world.tasks.setWait(input.task, reason);
  // Every write sets the time of the last one.
  expect(await find(input)).toEqual(known);

  expect((await world.worker().submit(input, again)).state.at).toBe('waiting');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('what it waited for is not said any more once it is being sent', async () => {
  const input = await newTask();
  await expect(world.worker(turn).submit(input)).rejects.toMatchObject({ type: 'WaitsForItsTurn' });
  const tasks = world.store();
  const away = () => Promise.reject(new MongoNetworkError('away'));
  let clock = Date.now();
  const sending = world.worker({ tasks: { ...tasks, step: away }, now: () => clock }).submit(input, again);
  await expect.poll(() => messageOf(input)).toBe('The task is waiting to be submitted.');
  clock += 3_600_000;
  await expect(sending).rejects.toThrow('away');
});

it('a submission whose response was lost is being looked for', async () => {
  const input = await newTask('[sim:accepted-then-silent]');
  await world.tasks.setWait(input.task, 'turn');
  expect((await world.worker().submit(input)).state.at).toBe('searching');
  world.simulator.control.addFault({ match: { method: 'GET' }, fault: 'list:503' });
  await expect(world.worker().findLostJob(input)).rejects.toThrow(/./);
  expect(await messageOf(input)).toBe(waitMessages.lookup);
  world.simulator.control.clearFaults();
  expect((await world.worker().findLostJob(input)).state.at).toBe('waiting');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('a process that was late does not say it of a task that is submitted, or has ended', async () => {
  const input = await newTask();
  await world.worker().submit(input);
  await world.tasks.setWait(input.task, 'slot');
  expect(await messageOf(input)).toBe('The task is submitted.');
  const ended = await newTask();
  await world.tasks.step(ended.task, { kind: 'wanted', stop: 'fail' });
  await world.tasks.setWait(ended.task, 'slot');
  expect((await find(ended)).waitsFor).toBeUndefined();
});

it('a task that waits for a person says that, and nothing older afterwards', async () => {
  const input = await newTask('[sim:create:accepted-504]');
  expect((await world.worker().submit(input)).state.at).toBe('searching');
  await world.tasks.setWait(input.task, 'lookup');
  expect(await messageOf(input)).toBe(waitMessages.lookup);
  await world.store().step(input.task, { kind: 'asked' });
  expect(await messageOf(input)).toMatch(/has been asked to decide/);
  await world.store().step(input.task, { kind: 'resubmitted' });
  expect(await messageOf(input)).toBe('The task is waiting to be submitted.');
});

it('a database that is away does not stop a submission', async () => {
  const input = await newTask();
  const tasks = { ...world.store(), setWait: () => Promise.reject(new Error('away')) };
  await expect(world.worker({ ...turn, tasks }).submit(input)).rejects.toMatchObject({
    type: 'WaitsForItsTurn',
  });
});
