import { describe, expect, it } from 'vitest';
import type { OperatorActionName } from '../../src/operating/acts.ts';
import { isPossibleIn, refusalWords, workflowActions } from '../../src/operating/acts.ts';
import type { Woken } from '../../activities/types.ts';
import { situation, standingOf } from '../../src/operating/situation.ts';
import { both, refusalOf, signal, uncrossed, usePlayedTasks, type PlayedTask } from './played-tasks.ts';
import { defined } from '../../src/base/defined.ts';
import { createTaskClient, type TaskClientOptions } from '../../src/temporal/task-client.ts';
import { asks, forGood, later, type Upstream } from './played-upstream.ts';

const tasks = usePlayedTasks();
const result = { result_url: 'https://files.example/a.mp4', duration: 5 };
const succeeded = { status: 'succeeded', charge: '700000' };

const inputs: Readonly<Partial<Record<OperatorActionName, object>>> = {
  adopt: { upstream_id: 'job-7' },
  complete: result,
  extend: { seconds: 600 },
};

const lost = async () => ({ kind: 'lost' }) as const;

interface Situation {
  readonly change: Partial<Upstream>;
  readonly reached: (task: PlayedTask) => Promise<void>;
}
const situations: Readonly<Record<'queued' | 'asking' | 'waiting' | 'broken' | 'review', Situation>> = {
  queued: { change: { gate: later }, reached: (task) => task.called('submit one') },
  asking: { change: { submit: lost }, reached: asked('submit_ambiguous') },
  waiting: { change: {}, reached: (task) => task.called('wait job-1') },
  broken: { change: { wait: async () => ({ kind: 'broken' }) }, reached: asked('poll_failed') },
  review: {
    change: { wait: async () => ({ kind: 'succeeded' }), reviewed: '9000000' },
    reached: asked('charge_review'),
  },
};

function asked(reason: string): (task: PlayedTask) => Promise<void> {
  return (task) => expect.poll(() => task.details()).toContain(`Needs attention: ${reason}`);
}

async function inSituation(
  name: keyof typeof situations,
  change: Parameters<typeof tasks.start>[0] = {},
): Promise<PlayedTask> {
  Object.assign(tasks.upstream, situations[name].change);
  tasks.upstream.known.push('job-7');
  const task = await tasks.start(change);
  await situations[name].reached(task);
  return task;
}

async function advised(task: PlayedTask): Promise<string[]> {
  const text = await task.details();
  const lines = text.matchAll(/`gateway tasks action (\S+) (\w+)( --[a-z-]+ \S+)? --reason "…"` \S/g);
  return [...lines].map(([, id, action]) => `${id === task.id ? '' : id}${action}`);
}

function offered(task: PlayedTask, isForgotten = false): OperatorActionName[] {
  const around = {
    unserved: () => undefined,
    isGone: () => false,
    isUnsearchable: () => true,
    isForgotten: () => isForgotten,
  };
  return situation(standingOf(task.record(), around)).actions.map((action) => action.name);
}

describe.each(Object.keys(situations) as (keyof typeof situations)[])('while a task is %s', (name) => {
  it('refuses what it does not offer, names what it offers, and neither that nor a dry run changes the record', async () => {
    const task = await inSituation(name);
    const before = task.record();
    const possible = offered(task);
    for (const action of workflowActions) {
      const input = inputs[action] ?? {};
      if (!isPossibleIn(action, name)) {
        expect(await task.refusal(action, input)).toBe(refusalWords(action, { at: name, possible }));
      } else if (action === 'retry_now' && name === 'review') {
        // Only charges that could not be computed or written can be settled again.
        expect(await task.refusal(action, input)).toContain('awaits an operator’s decision');
      } else if (action === 'retry_now' && name === 'asking') {
        expect(await task.refusal(action, input)).toContain('cannot be searched');
      } else if (action === 'undo') {
        expect(await task.refusal(action, input)).toContain('was not adopted');
      } else {
        expect(await task.act(action, { ...input, dry_run: true })).toEqual({
          would: { task: expect.any(String), money: expect.any(String) },
          plan: expect.any(String),
        });
        expect(possible).toContain(action);
      }
      expect(task.record()).toEqual(before);
    }
    const advice = await advised(task);
    expect(advice.filter((one) => !possible.some((action) => action === one))).toEqual([]);
    if (!['queued', 'waiting'].includes(name)) expect(advice).toContain('fail');
    await task.act('fail', { by: 'ada', reason: 'enough' });
    expect(await task.end()).toEqual({ status: 'failed', code: 'internal_error' });
    expect(task.record().actions).toMatchObject([{ action: 'fail', by: 'temporal:ada', reason: 'enough' }]);
    await expect.poll(() => task.attribute('NeedsAttention')).toBeUndefined();
    expect(await task.failedWorkflowTasks()).toEqual([]);
  });

  it('an operator cannot act once it has ended', async () => {
    const task = await inSituation(name);
    await task.act('fail');
    await task.end();
    await expect(task.act('retry_now')).rejects.toThrow(/completed|not found/);
  });
});

describe.each(['queued', 'asking', 'broken', 'review'] as const)(
  'the details of a task that is %s',
  (name) => {
    it.each([false, true])('offer what the API offers; its request is deleted: %s', async (isForgotten) => {
      Object.assign(tasks.upstream, { isForgotten });
      const task = await inSituation(name);
      expect(await advised(task)).toEqual(offered(task, isForgotten));
      await task.act('fail');
    });
  },
);

it('every action refuses invalid input with a sentence, without a trace', async () => {
  const task = await inSituation('asking');
  const before = (await task.events()).length;
  for (const name of workflowActions) {
    for (const given of [
      'nothing',
      null,
      '',
      'the reason alone',
      7,
      [],
      {},
      { reason: 'r' },
      { reason: 5, by: 'a' },
    ]) {
      if (name === 'cancel' && given === 'nothing') continue;
      const update = uncrossed((updateId) =>
        given === 'nothing'
          ? task.handle.executeUpdate(name, { updateId })
          : task.handle.executeUpdate<unknown, [unknown]>(name, { args: [given], updateId }),
      );
      expect(await refusalOf(update)).toMatch(/`\w+`/);
    }
  }
  const trace = (await task.events())
    .slice(before)
    .filter((event) => Boolean(event.workflowExecutionUpdateAcceptedEventAttributes));
  expect(trace).toEqual([]);
  expect(await task.failedWorkflowTasks()).toEqual([]);
  expect(await task.details()).toContain('Needs attention: submit_ambiguous');
  expect(task.record().actions).toBeUndefined();
  await task.act('fail');
});

async function timersOf(task: PlayedTask): Promise<string[]> {
  return (await task.events()).flatMap(({ timerStartedEventAttributes: timer, userMetadata }) =>
    timer ? [Buffer.from(userMetadata?.summary?.data ?? []).toString()] : [],
  );
}

it.each([
  [
    'asking',
    '"Waits: needs attention (submit_ambiguous): The response of one to the submission was lost (timeout)."',
  ],
  ['broken', '"Waits: needs attention (poll_failed): Polling one has stopped (unknown_job)."'],
  [
    'review',
    '"Waits: needs attention (charge_review): The job succeeded, but its charge awaits a decision, because it is far above the hold."',
  ],
] as const)('while a task is %s, a timer says in the Timeline what it waits for', async (name, summary) => {
  const task = await inSituation(name);
  await expect.poll(() => timersOf(task)).toContain(summary);
  await task.act('fail');
});

describe('a submission with an unknown outcome', () => {
  it('shows where to look, and the command of every action that helps', async () => {
    const task = await inSituation('asking');
    expect(await advised(task)).toEqual(['adopt', 'resubmit', 'complete', 'fail', 'extend']);
    expect(await task.details()).toContain(`Channel **one**, credential a, marker \`${task.id}-marker\`.`);
    expect(await task.details()).toMatch(/Deadline 20\S+Z\. Held 1\.500000 USD\.$/);
    await task.act('fail');
  });

  it('a job that the upstream does not confirm is refused, and nothing changes', async () => {
    const task = await inSituation('asking');
    const before = task.record();
    expect(await task.refusal('adopt', { upstream_id: 'x' })).toBe(
      'one does not know the job x (unknown). Nothing was changed.',
    );
    expect(task.record()).toEqual(before);
    await task.act('fail');
  });

  it('adopts a job, undoes that, and adopts another one, whose end alone matters', async () => {
    const old = signal();
    tasks.upstream.wait = async (job) => {
      if (job !== 'job-7') return asks();
      await old.given;
      return { kind: 'succeeded' };
    };
    const task = await inSituation('asking');
    tasks.upstream.known.push('job-8');
    await task.act('adopt', { upstream_id: 'job-7', by: 'ada' });
    await task.called('wait job-7');
    await task.act('undo', { reason: 'a wrong line' });
    await asked('submit_ambiguous')(task);
    await task.act('adopt', { upstream_id: 'job-8' });
    old.give();
    await task.called('wait job-8');
    expect(task.record()).toMatchObject({ state: { at: 'waiting' }, upstreamId: 'job-8' });
    expect(await task.refusal('adopt', { upstream_id: 'job-7' })).toContain('Possible now: retry_now, fail');
    await task.act('fail');
    expect(task.record().actions?.map(({ action }) => action)).toEqual(['adopt', 'undo', 'adopt', 'fail']);
  });

  it('continues with an adopted job although the reply to the operator is lost', async () => {
    const task = await inSituation('asking');
    tasks.upstream.acted = forGood;
    await expect(task.act('adopt', { upstream_id: 'job-7' })).rejects.toThrow();
    await task.called('wait job-7');
    expect(task.record()).toMatchObject({ state: { at: 'waiting' }, upstreamId: 'job-7' });
  });

  it('gets its reply from the record if the act’s reply is lost, and is never reported as ineffective', async () => {
    const portWith = (findAct: TaskClientOptions['findAct']) =>
      createTaskClient({
        client: tasks.client,
        queuePrefix: '',
        now: Date.now,
        newActId: () => 'act-lost',
        ...defined({ findAct }),
      });
    const adopt = { upstream_id: 'job-7', by: 'ada', reason: 'r' };
    tasks.upstream.acted = forGood;
    const task = await inSituation('asking');
    const find = async (_task: string, id: string) =>
      task.record().actions?.find((action) => action.id === id);
    const did = { task: expect.stringContaining('job-7'), money: '' };
    expect(await portWith(find).act(task.id, 'adopt', adopt)).toEqual({ did });
    const other = await inSituation('asking');
    await expect(portWith(undefined).act(other.id, 'adopt', adopt)).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('may still be carried out'),
    });
  });

  it('can be resubmitted to the same channel, or to a named one in the plan', async () => {
    const task = await inSituation('asking', { candidates: both });
    expect(await task.refusal('resubmit', { channel: 'three' })).toBe(
      'The task’s plan has no channel `three`; it has one, two.',
    );
    expect((await task.did('resubmit', { reason: 'not in the console' })).money).toContain(
      'the upstream bills two',
    );
    await task.called('post one', 2);
    await expect.poll(() => task.record().state).toMatchObject({ at: 'asking', n: 2 });
    tasks.upstream.submit = async () => ({ kind: 'accepted', id: 'job-3' });
    await task.act('resubmit', { channel: 'two' });
    await task.called('wait job-3');
    expect(task.record().attempts.map(({ channel, state }) => [channel, state])).toEqual([
      ['one', 'abandoned'],
      ['one', 'abandoned'],
      ['two', 'accepted'],
    ]);
    await task.act('fail');
  });

  it('retry_now searches the upstream for the marker, and reports the result', async () => {
    tasks.upstream.find = forGood;
    const task = await inSituation('asking');
    expect(await advised(task)).toEqual(['retry_now', 'adopt', 'resubmit', 'complete', 'fail', 'extend']);
    expect(await task.details()).toContain('Use `retry_now`: it searches the upstream for the job’s marker');
    const search = signal();
    tasks.upstream.find = () => search.given.then(() => undefined);
    tasks.upstream.woken = { kind: 'tried', ended: 'no upstream job carries the marker' };
    expect((await task.did('retry_now')).task).toBe(
      'An attempt was made just now: no upstream job carries the marker.',
    );
    expect(task.calls()).toContain('wake find');
    tasks.upstream.find = async () => 'job-9';
    search.give();
    await task.called('wait job-9');
    await task.act('fail');
  });

  it('retry_now is refused if the upstream cannot be searched, with advice on what to do instead', async () => {
    const task = await inSituation('asking');
    const said = /^The upstream cannot be searched for the job\. Look for it .*`adopt`.*`fail`\./;
    expect(await task.refusal('retry_now')).toMatch(said);
    expect(await task.refusal('retry_now', { dry_run: true })).toMatch(said);
    expect(await task.refusal('retry_now')).toContain('`resubmit`');
    tasks.upstream.isForgotten = true;
    expect(await task.refusal('retry_now')).not.toContain('`resubmit`');
    expect(task.record().state).toMatchObject({ at: 'asking' });
    expect(task.calls().filter((call) => call === 'find')).toHaveLength(1);
    await task.act('fail');
  });

  it.each(['asking', 'waiting', 'broken', 'review'] as const)(
    'is completed by hand, and charged: %s',
    async (name) => {
      const task = await inSituation(name);
      expect((await task.did('complete', result)).money).toMatch(/ USD is charged; 1\.500000 USD is held\.$/);
      expect(await task.end()).toEqual(succeeded);
      expect(task.record().outcome).toMatchObject({ kind: 'succeeded', facts: { durationSeconds: 5 } });
      expect(task.record().actions).toMatchObject([
        { action: 'complete', detail: 'The task succeeds with the given result.' },
      ]);
    },
  );
});

it('a charge that an operator accepts ends the task as succeeded', async () => {
  const task = await inSituation('review');
  expect(await task.details()).toContain('The charge would be 9.000000 USD.');
  expect((await task.did('accept_charge')).money).toBe('9.000000 USD is charged; 1.500000 USD was held.');
  expect(await task.end()).toEqual(succeeded);
});

it('an operator’s `fail` of a task whose job has succeeded, with a charge to review, is not reported as done', async () => {
  tasks.upstream.status = async () => ({ kind: 'succeeded' });
  tasks.upstream.reviewed = '9000000';
  const task = await inSituation('waiting');
  expect(await task.refusal('fail')).toBe(
    'The task was not ended as failed: the task’s charge awaits a decision.',
  );
  await task.act('fail');
  expect(await task.end()).toMatchObject({ code: 'internal_error' });
});

it('a job is polled once more before an operator fails it, and an existing result is used', async () => {
  tasks.upstream.status = async () => ({ kind: 'succeeded' });
  const task = await inSituation('waiting');
  expect(await task.refusal('fail')).toBe('The upstream had already finished: the task succeeded.');
  expect(await task.end()).toEqual(succeeded);
});

const wakings: Readonly<Record<Woken['kind'], readonly [Woken, string]>> = {
  tried: [
    { kind: 'tried', ended: 'running, 4 polls, next in 9 s' },
    'An attempt was made just now: running, 4 polls, next in 9 s.',
  ],
  begun: [
    { kind: 'begun' },
    'The upstream is polled immediately. A worker has started an attempt; the task will show its outcome.',
  ],
  not_begun: [
    { kind: 'not_begun' },
    'An attempt is due, but no worker has started it yet. `gateway nodes` shows which workers run.',
  ],
  busy: [{ kind: 'busy' }, 'An attempt is running now. The task will show its outcome.'],
  ended: [{ kind: 'ended' }, 'An attempt was made just now: the upstream has the job.'],
};

it.each(Object.values(wakings))('an operator who retries now learns the outcome: %j', async (woken, said) => {
  Object.assign(tasks.upstream, { woken });
  const task = await inSituation('waiting');
  expect((await task.did('retry_now')).task).toBe(said);
});

it('retry_now of a paused task reports what its next submission did', async () => {
  tasks.upstream.submit = async () => ({ kind: 'not_accepted' });
  const pausing = await tasks.start();
  await expect.poll(() => pausing.record().state.at).toBe('pausing');
  tasks.upstream.gate = later;
  tasks.upstream.woken = { kind: 'tried', ended: 'every channel is full' };
  expect((await pausing.did('retry_now')).task).toBe('An attempt was made just now: every channel is full.');
  expect(pausing.calls()).toContain('wake submit');
  await pausing.act('fail');
});

it('a running job is polled now, and gets more time twice while its poll is with a worker', async () => {
  tasks.upstream.wait = asks;
  const task = await inSituation('waiting');
  await task.act('retry_now', { reason: 'news' });
  expect(task.calls()).toContain('wake submit');
  const before = task.record().deadlineAt;
  await Promise.all([task.act('extend', { seconds: 600 }), task.act('extend', { seconds: 600 })]);
  expect(task.record().deadlineAt).toBe(before + 1_200_000);
  expect(await task.details()).toContain(new Date(before + 1_200_000).toISOString());
  expect(task.calls().filter((call) => call.startsWith('wait'))).toHaveLength(1);
  await task.act('fail');
  expect(await task.end()).toMatchObject({ code: 'internal_error' });
  expect(await task.failedWorkflowTasks()).toEqual([]);
});

it('a cancellation by an operator is recorded, but a caller’s is not', async () => {
  const task = await inSituation('waiting');
  expect(await task.cancel()).toMatchObject({ cancelled: false });
  expect(task.record().actions).toBeUndefined();
  expect(await task.refusal('cancel', { by: 'ada', reason: 'r' })).toContain('can no longer be cancelled');
  expect(task.record().actions).toMatchObject([{ action: 'cancel', by: 'temporal:ada' }]);
  expect(task.calls().filter((call) => call === 'cancel')).toHaveLength(2);
  await task.act('fail');
});

it('a task whose writes are slow can be continued by another worker after each act', async () => {
  const task = await inSituation('asking');
  tasks.upstream.writeMs = 300;
  tasks.upstream.find = async () => undefined;
  await task.act('adopt', { upstream_id: 'job-7' });
  tasks.upstream.find = forGood;
  await task.called('wait job-7');
  expect(await task.replayError()).toBeUndefined();
  await Promise.all([task.act('undo'), task.act('extend', { seconds: 60 }), task.refusal('accept_charge')]);
  await asked('submit_ambiguous')(task);
  expect(await task.replayError()).toBeUndefined();
  await Promise.all([task.act('retry_now'), task.act('extend', { seconds: 60 })]);
  await task.act('resubmit');
  await expect.poll(() => task.record().state).toMatchObject({ at: 'asking', n: 2 });
  // The workflow now knows the new state and will not get another event before it finishes.
  await expect.poll(() => task.details()).toContain('Needs attention: submit_ambiguous');
  await task.act('fail');
  await task.end();
  expect(await task.replayError()).toBeUndefined();
});
