import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { SubmitInput } from '../../activities/types.ts';
import type { SubmitRefusal } from '../../src/capacity/submit-gate.ts';
import type { GenerationRequest } from '../../src/models/request.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import { presentAdminTaskDetail } from '../../src/http/presenters/admin-task.ts';
import type { RecordSources } from '../../src/flight/read-record.ts';
import { readTaskRecord } from '../../src/flight/read-record.ts';
import { situation, standingOf } from '../../src/task/situation.ts';
import { noMediaUrl } from '../../src/models/stored-media.ts';
import type { Task } from '../../src/task/record.ts';
import { waitMessages } from '../../src/task/wait.ts';
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

const shown = {
  mediaUrl: noMediaUrl,
  roles: ['read'],
  nodes: { unserved: () => undefined, isGone: () => false },
  entries: [],
  health: [],
  waiting: undefined,
} as const;

const messageOf = async (input: SubmitInput) => presentTask(await find(input), noMediaUrl).message;

const gate = (refusal: SubmitRefusal): Pick<ChannelActivityDeps, 'gate'> => ({
  gate: { ...openGate, enter: async () => refusal },
});

const rate: Pick<ChannelActivityDeps, 'submitLimiter'> = {
  submitLimiter: () => ({ enter: async () => ({ ms: 5_000, ahead: 4 }), giveBack: () => undefined }),
};

/** A record that has only the parts that every task has. */
const sources: RecordSources = {
  tasks: { find: (id) => world.tasks.find(id) },
  requests: { find: async () => undefined },
  exchanges: { find: async () => [] },
  resultCopies: { find: async () => undefined },
  ledger: { entriesOfTask: async () => [] },
  channels: () => undefined,
  history: async () => undefined,
  now: Date.now,
};

/** GET, the operators' API, the record's timeline and the Temporal UI describe a wait with the same words. */
async function sayings(input: SubmitInput): Promise<readonly string[]> {
  const task = await find(input);
  const record = await readTaskRecord(sources, input.task, { history: false });
  const { waits } = presentAdminTaskDetail(task, shown);
  const { what } = situation(standingOf(task));
  return [
    presentTask(task, noMediaUrl).message,
    waits.at(-1)?.text ?? '',
    record?.events.findLast((event) => event.what === 'wait')?.text ?? '',
    what,
  ];
}

it.each([
  ['slot', 'AtConcurrencyLimit', '', gate({ kind: 'full', ms: 5_000, ahead: 2 })],
  ['circuit', 'NotAccepted', '', gate({ kind: 'circuit_open', retryAfterMs: 5_000, detail: 'failure: x' })],
  ['turn', 'NotAccepted', '', gate({ kind: 'circuit_open', detail: 'failure: x', isTried: true })],
  ['upstream', 'NotAccepted', '[sim:429*1]', {}],
  ['backoff', 'NotAccepted', '[sim:429=5*1]', {}],
  ['rate', 'WaitsForItsTurn', '', rate],
] as const)('everybody reads that a task waits: %s (%s %s)', async (cause, type, marks, deps) => {
  const input = await newTask(marks);
  await expect(world.worker(deps).submit(input)).rejects.toMatchObject({ type });
  for (const text of await sayings(input)) expect(text).toContain(waitMessages[cause]);
  const known = await find(input);
  expect(known.wait).toMatchObject({ cause, channel: input.candidate.channel });
  expect(presentTask(known, noMediaUrl).message).not.toContain(input.candidate.channel);

  await world.tasks.setWait(input.task, { ...input.candidate, ...known.wait, cause });
  // Every write sets the time of the last one.
  expect(await find(input)).toEqual(known);

  expect((await world.worker().submit(input, again)).state.at).toBe('waiting');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('files that are given to the upstream are a wait, if it takes long', async () => {
  const input = await newTask();
  let refuse: (error: Error) => void = () => undefined;
  const registerFiles = () => new Promise<GenerationRequest>((_resolve, reject) => (refuse = reject));
  const submitting = world.worker({ registerFiles }).submit(input);
  await expect.poll(async () => (await find(input)).wait?.cause).toBe('files');
  refuse(new UpstreamError('ambiguous', 'no', { code: 'upload_failed' }));
  await expect(submitting).rejects.toMatchObject({ type: 'NotAccepted' });
  expect((await find(input)).wait).toMatchObject({ cause: 'files', code: 'upload_failed' });
});

it('a submission whose response was lost is being looked for', async () => {
  const input = await newTask('[sim:accepted-then-silent]');
  await world.tasks.setWait(input.task, { cause: 'rate' });
  expect((await world.worker().submit(input)).state.at).toBe('searching');
  for (const text of (await sayings(input)).slice(0, 3)) expect(text).toContain(waitMessages.lookup);
  expect((await world.worker().findLostJob(input)).state.at).toBe('waiting');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('a task that waits for a person says that, and nothing older afterwards', async () => {
  const input = await newTask('[sim:create:accepted-504]');
  expect((await world.worker().submit(input)).state.at).toBe('searching');
  await world.store().step(input.task, { kind: 'asked' });
  expect(await messageOf(input)).toMatch(/has been asked to decide/);
  await world.store().step(input.task, { kind: 'resubmitted' });
  expect(await messageOf(input)).toBe('The task is waiting to be submitted.');
});

it('a database that is away does not stop a submission', async () => {
  const input = await newTask();
  const tasks = { ...world.store(), setWait: () => Promise.reject(new Error('away')) };
  await expect(world.worker({ ...rate, tasks }).submit(input)).rejects.toMatchObject({
    type: 'WaitsForItsTurn',
  });
});
