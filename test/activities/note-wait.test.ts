import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import type { SubmitInput } from '../../activities/types.ts';
import type { SubmitRefusal } from '../../src/capacity/submit-gate.ts';
import type { GenerationRequest } from '../../src/models/request.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import { presentAdminTaskDetail } from '../../src/http/presenters/admin-task.ts';
import { readTaskRecord, type RecordSources } from '../../src/flight/read-record.ts';
import { situation, standingOf } from '../../src/operating/situation.ts';
import { noMediaUrl } from '../../src/models/stored-media.ts';
import type { Task } from '../../src/task/record.ts';
import { waitMessages } from '../../src/task/wait.ts';
import { presentTask } from '../../src/http/presenters/video-task.ts';
import { again, openActivityWorld, gateOf, type ActivityWorld } from './support.ts';

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
  nodes: {
    unserved: () => undefined,
    isGone: () => false,
    isUnsearchable: () => false,
    isForgotten: () => false,
  },
  entries: [],
  health: [],
  waiting: undefined,
} as const;

const messageOf = async (input: SubmitInput) => presentTask(await find(input), noMediaUrl).message;

const gate = (refusal: SubmitRefusal): Pick<ChannelActivityDeps, 'gate'> => ({
  gate: gateOf(async () => refusal),
});

const rate: Pick<ChannelActivityDeps, 'submitLimiter'> = {
  submitLimiter: () => ({ enter: async () => ({ ms: 5_000, ahead: 4 }), giveBack: () => undefined }),
};

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
  // Any write would change `updatedAt`, so equal records prove that nothing was written.
  expect(await find(input)).toEqual(known);

  expect((await world.worker().submit(input, again)).state.at).toBe('waiting');
  expect(await messageOf(input)).toBe('The task is submitted.');
});

it('a task that asks again for a slot shows how many tasks are ahead of it now', async () => {
  const input = await newTask();
  const ask = (ahead: number) => world.worker(gate({ kind: 'full', ms: 5_000, ahead })).submit(input);
  await expect(ask(7)).rejects.toMatchObject({ type: 'AtConcurrencyLimit' });
  const { since } = (await find(input)).wait ?? {};
  await expect(ask(1)).rejects.toMatchObject({ type: 'AtConcurrencyLimit' });
  expect((await find(input)).wait).toMatchObject({ cause: 'slot', ahead: 1, since });
  for (const text of await sayings(input)) expect(text).toContain('One task was ahead of it.');
});

it('uploading files to the upstream is shown as a wait if it takes long', async () => {
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

it('a task that waits for an operator shows that, and no older wait afterwards', async () => {
  const input = await newTask('[sim:create:accepted-504]');
  expect((await world.worker().submit(input)).state.at).toBe('searching');
  await world.store().step(input.task, { kind: 'asked' });
  expect(await messageOf(input)).toMatch(/has been asked to decide/);
  await world.store().step(input.task, { kind: 'resubmitted' });
  expect(await messageOf(input)).toMatch(
    /^The task is waiting to be submitted. No worker has taken it yet\. Since /,
  );
});

it('an unreachable database does not stop a submission', async () => {
  const input = await newTask();
  const tasks = { ...world.store(), setWait: () => Promise.reject(new Error('away')) };
  await expect(world.worker({ ...rate, tasks }).submit(input)).rejects.toMatchObject({
    type: 'WaitsForItsTurn',
  });
});
