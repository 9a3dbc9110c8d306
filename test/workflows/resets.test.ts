import { describe, expect, it } from 'vitest';
import type { StateName } from '../../src/task/state.ts';
import { signal, usePlayedTasks, type PlayedTask } from './played-tasks.ts';
import { asks, later, quietUpstream, type Upstream } from './played-upstream.ts';

const tasks = usePlayedTasks();
const workflowTaskCompleted = 7;

async function resetTo(task: PlayedTask, where: 'first' | 'last'): Promise<PlayedTask> {
  const completed = (await task.events()).filter(({ eventType }) => eventType === workflowTaskCompleted);
  return task.reset(Number(completed.at(where === 'first' ? 0 : -1)?.eventId));
}

const posts = (task: PlayedTask) => task.calls().filter((call) => call.startsWith('post')).length;

type Situation = readonly [
  name: string,
  change: Partial<Upstream>,
  until: (task: PlayedTask) => Promise<void>,
  posts: number,
];
const situations: readonly Situation[] = [
  ['a submission in backoff', { gate: later }, (task) => task.called('submit one'), 0],
  ['a wait between two attempts', { wait: later }, (task) => task.called('wait job-1'), 1],
  ['a wait that is with a worker', { wait: asks }, (task) => task.called('wait job-1'), 1],
  ['a lost job', { submit: async () => ({ kind: 'lost' }) }, (task) => task.reaches('asking'), 1],
  ['a broken wait', { wait: async () => ({ kind: 'broken' }) }, (task) => task.reaches('broken'), 1],
  [
    'a charge that waits for an operator',
    { wait: async () => ({ kind: 'succeeded' }), reviewed: '9000000' },
    (task) => task.reaches('review'),
    1,
  ],
];

describe.each(['first', 'last'] as const)('a reset to the %s step', (where) => {
  it.each(situations)(
    'of %s does not change it, and an operator ends it',
    async (_, change, until, posted) => {
      Object.assign(tasks.upstream, change);
      const task = await tasks.start();
      await until(task);
      const before = task.record().state.at;
      await expect.poll(() => task.details()).not.toBe('');
      const again = await resetTo(task, where);
      await expect.poll(() => again.details()).not.toBe('');
      expect(again.record().state.at).toBe(before);
      await again.act('fail');
      expect(await again.end()).toMatchObject({ status: 'failed', code: 'internal_error' });
      expect(posts(task)).toBe(posted);
      expect(await again.failedWorkflowTasks()).toEqual([]);
    },
  );

  it('of a wait continues it to its end', async () => {
    const task = await tasks.start();
    await task.called('wait job-1');
    tasks.upstream.wait = async () => ({ kind: 'succeeded' });
    const again = await resetTo(task, where);
    expect(await again.end()).toEqual({ status: 'succeeded', charge: '700000' });
    expect(posts(task)).toBe(1);
  });
});

it('of a submission in flight repeats no request, and the late response gives the task its job', async () => {
  const answer = signal();
  tasks.upstream.submit = async () => {
    await answer.given;
    return { kind: 'accepted', id: 'job-1' };
  };
  const task = await tasks.start();
  await task.called('post one');
  const again = await resetTo(task, 'first');
  await expect.poll(() => task.record().state).toMatchObject({ at: 'asking' });
  tasks.upstream.wait = async () => ({ kind: 'succeeded' });
  answer.give();
  await expect.poll(() => task.record().state.at).not.toBe('searching');
  // The workflow does not know about the change yet. Any operator action, even one that is rejected, makes it read the
  // record.
  expect(await again.refusal('adopt', { upstream_id: 'job-1' })).toContain('is not possible');
  expect(await again.end()).toEqual({ status: 'succeeded', charge: '700000' });
  expect(posts(task)).toBe(1);
});

it('repeats no operator’s act', async () => {
  tasks.upstream.submit = async (_submit, post) =>
    post === 1 ? { kind: 'lost' } : { kind: 'accepted', id: 'job-2' };
  const task = await tasks.start();
  await task.reaches('asking');
  await expect.poll(() => task.attribute('NeedsAttention')).toEqual(['submit_ambiguous']);
  await task.act('resubmit');
  await task.called('wait job-2');
  const again = await resetTo(task, 'first');
  await again.called('wait job-2', 2);
  expect(posts(task)).toBe(2);
  expect(task.record().actions).toMatchObject([{ action: 'resubmit' }]);
  await again.act('fail');
  await again.end();
});

it('handles a second cancellation from the UI, even if the first one had no effect', async () => {
  const task = await tasks.start();
  await task.called('wait job-1');
  await task.handle.cancel();
  await expect.poll(() => task.details()).toContain('A cancellation was requested');
  const again = await resetTo(task, 'first');
  await again.called('wait job-1', 2);
  tasks.upstream.cancel = async () => 'cancelled';
  await again.handle.cancel();
  expect(await again.end()).toEqual({ status: 'failed', code: 'task_cancelled' });
  expect(task.record().actions).toMatchObject([{ action: 'cancel' }, { action: 'cancel' }]);
});

it('continues from a record whose round has no channels', async () => {
  tasks.upstream.gate = later;
  const task = await tasks.start();
  await task.called('submit one');
  // No event leads to this state. The workflow must still not get stuck in it.
  tasks.records.put(task.id, { state: { at: 'queued', round: 1, left: [], full: [] } });
  const again = await resetTo(task, 'first');
  await again.reaches('pausing');
  await again.act('fail');
  await again.end();
  expect(await again.failedWorkflowTasks()).toEqual([]);
});

describe('a record that is older than the workflow, as after a restore of MongoDB,', () => {
  const restored: readonly (readonly [StateName, Partial<Upstream>])[] = [
    ['waiting', { wait: later }],
    ['broken', { wait: async () => ({ kind: 'broken' }) }],
    ['asking', { submit: async () => ({ kind: 'lost' }) }],
    ['pausing', { submit: async () => ({ kind: 'not_accepted' }) }],
    ['review', { wait: async () => ({ kind: 'succeeded' }), reviewed: '9000000' }],
  ];

  it.each(restored)('of a task that was %s is continued, and an operator ends it', async (at, change) => {
    Object.assign(tasks.upstream, change);
    const task = await tasks.start();
    const backup = task.record();
    await task.reaches(at);
    // An activity reports to the workflow after it has written the record. If the report came after the restore, it
    // would seem to be news. The activity of a waiting task does not end.
    const since = new Date(task.record().stateSince).toISOString();
    if (at !== 'waiting') await expect.poll(() => task.details()).toContain(`Since ${since}`);
    Object.assign(tasks.upstream, quietUpstream(), { gate: later });
    tasks.records.restore(backup);
    await task.act('fail');
    expect(await task.end()).toMatchObject({ status: 'failed', code: 'internal_error' });
    expect(task.record().rev).toBeLessThan(backup.rev + 5);
    expect(await task.failedWorkflowTasks()).toEqual([]);
  });
});
