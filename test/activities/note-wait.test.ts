import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { SubmitInput } from '../../activities/types.ts';
import type { SubmitRefusal } from '../../src/capacity/submit-gate.ts';
import { noMediaUrl } from '../../src/domain/stored-media.ts';
import type { Task } from '../../src/domain/task-record.ts';
import { waitMessages } from '../../src/domain/wait-reason.ts';
import { presentTask } from '../../src/http/presenters/video-task.ts';
import { openActivityWorld } from './support.ts';
import type { ActivityWorld } from './support.ts';

let world: ActivityWorld;
beforeAll(async () => {
  world = await openActivityWorld();
});
afterAll(() => world.close());

let count = 0;
const newTask = (marks = ''): Promise<SubmitInput> =>
  world.newTask(`waits-${(count += 1)}-end ${marks}`, { persistMs: 600_000 });

async function find({ task }: SubmitInput): Promise<Task> {
  const found = await world.tasks.find(task);
  if (found === undefined) throw new Error('no task');
  return found;
}

const messageOf = async (input: SubmitInput) => presentTask(await find(input), noMediaUrl).message;

const gate = (refusal: SubmitRefusal): Pick<ChannelActivityDeps, 'gate'> => ({
  gate: {
    enter: async () => refusal,
    report: async () => undefined,
    anyHasRoom: async () => false,
    leave: async () => undefined,
  },
});

const turn: Pick<ChannelActivityDeps, 'submitLimiter'> = {
  submitLimiter: () => ({ enter: async () => 5_000, giveBack: () => undefined }),
};

/** As Temporal runs the activity the next time. */
const again = { attempt: 2, scheduledTimestampMs: 1 };

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
  await world.tasks.setWait(input.task, reason, BigInt(input.version));
  // Every write sets the time of the last one.
  expect(await find(input)).toEqual(known);

  expect((await world.worker().submit(input, again)).kind).toBe('accepted');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('what it waited for is not said any more once it is being sent', async () => {
  const input = await newTask();
  await expect(world.worker(turn).submit(input)).rejects.toMatchObject({ type: 'WaitsForItsTurn' });
  const silent = { ...world.attempts, begin: () => Promise.reject(new Error('away')) };
  let clock = Date.now();
  const sending = world.worker({ attempts: silent, now: () => clock }).submit(input, again);
  await expect.poll(() => messageOf(input), { timeout: 20_000 }).toBe('The task is waiting to be submitted.');
  clock += 3_600_000;
  await expect(sending).rejects.toThrow('away');
});

it('a submission whose response was lost is being looked for', async () => {
  const input = await newTask('[sim:accepted-then-silent]');
  await world.tasks.setWait(input.task, 'turn', BigInt(input.version));
  expect((await world.worker().submit(input)).kind).toBe('ambiguous');
  world.simulator.control.addFault({ match: { method: 'GET' }, fault: 'list:503' });
  await expect(world.worker().findLostJob(input)).rejects.toThrow(/./);
  expect(await messageOf(input)).toBe(waitMessages.lookup);
  world.simulator.control.clearFaults();
  expect((await world.worker().findLostJob(input)).kind).toBe('accepted');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('a process that was late does not say it of a task that is submitted, or has ended', async () => {
  const input = await newTask();
  await world.worker().submit(input);
  await world.tasks.setWait(input.task, 'slot', BigInt(input.version));
  expect(await messageOf(input)).toBe('The task is submitted.');
  const ended = await newTask();
  const write = { status: 'failed', version: 2n, charge: 0n, chargeEstimated: false } as const;
  await world.tasks.finish(ended.task, write);
  await world.tasks.setWait(ended.task, 'slot', BigInt(ended.version));
  expect((await find(ended)).waitsFor).toBeUndefined();
});

it('a task that waits for a person says that, and nothing older afterwards', async () => {
  const input = await newTask();
  const version = BigInt(input.version);
  await world.tasks.setWait(input.task, 'lookup', version);
  await world.tasks.setAttention(input.task, 'submit_ambiguous', version);
  expect(await messageOf(input)).toMatch(/has been asked to decide/);
  await world.tasks.setAttention(input.task, undefined, version + 1n);
  expect(await messageOf(input)).toBe('The task is waiting to be submitted.');
});

it('a database that is away does not stop a submission', async () => {
  const input = await newTask();
  const tasks = { ...world.tasks, setWait: () => Promise.reject(new Error('away')) };
  await expect(world.worker({ ...turn, tasks }).submit(input)).rejects.toMatchObject({
    type: 'WaitsForItsTurn',
  });
});
