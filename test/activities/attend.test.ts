import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelActivityDeps } from '../../activities/deps.ts';
import { createStayPlaces, type StayPlaces } from '../../src/capacity/stay-places.ts';
import { defined } from '../../src/base/defined.ts';
import { rememberedPolls, type PollMemory } from '../../src/polling/poll-memory.ts';
import { UpstreamError, type OperationStatus } from '../../src/providers/provider.ts';
import { ChannelGoneError } from '../../src/routing/channels.ts';
import { again, openActivityWorld, type ActivityWorld, type NewTask } from './support.ts';

let world: ActivityWorld;
let count = 0;
beforeAll(async () => {
  world = await openActivityWorld();
});
afterAll(() => world.close());

const pending: OperationStatus = { state: 'pending', phase: 'running' };
const succeeded: OperationStatus = { state: 'succeeded', items: [], facts: { durationSeconds: 5 } };

function upstream(...statuses: (OperationStatus | UpstreamError)[]) {
  let polls = 0;
  const answers = {
    lists: () => false,
    callsBack: () => false,
    status: async () => {
      const status = statuses[Math.min(polls, statuses.length - 1)] ?? pending;
      polls += 1;
      if (status instanceof UpstreamError) throw status;
      return status;
    },
  };
  const poller: ChannelActivityDeps['poller'] = () => answers;
  return { poller, polls: () => polls };
}

const roomy = () => ({ stays: createStayPlaces({ placesMax: () => 10, monotonic: Date.now }) });
const prompts = new Map<string, string>();

async function newTask(change: NewTask = {}) {
  const prompt = `attend-${(count += 1)}-end`;
  const input = await world.newTask(prompt, change);
  prompts.set(input.task, prompt);
  return input;
}

async function submitted(change: NewTask = {}) {
  const input = await newTask(change);
  expect((await world.worker().submit(input)).state).toEqual({ at: 'waiting', n: 1 });
  return input;
}

const submits = ({ task }: { readonly task: string }): number =>
  world.simulator.control.submissions(prompts.get(task) ?? '-').submits;
const succeeds = { at: 'ending', ending: { kind: 'succeeded' } };

it('submits, polls until the upstream has ended the job, and records both', async () => {
  const input = await newTask();
  const { poller, polls } = upstream(pending, succeeded);
  const result = await world.worker({ poller, ...roomy() }).submit(input);
  const record = await world.record(input);
  expect(result).toMatchObject({ state: succeeds, upstreamId: record.attempts[0]?.operation?.id });
  expect([polls(), submits(input)]).toEqual([2, 1]);
  expect(record).toMatchObject({ outcome: { kind: 'succeeded', facts: { durationSeconds: 5 } } });
});

it('a later attempt polls at once and submits nothing again', async () => {
  const input = await submitted({ expectedSeconds: 600 });
  const memory = { polls: 3, errors: 0, gone: 0, phase: 'running' };
  const info = { attempt: 4, heartbeatDetails: memory };
  const { poller, polls } = upstream(succeeded);
  const before = (await world.record(input)).attempts;
  expect((await world.worker({ poller, ...roomy() }).submit(input, info)).state).toEqual(succeeds);
  expect([polls(), submits(input), (await world.record(input)).attempts]).toEqual([1, 1, before]);
});

it('a later attempt finds the outcome in the record', async () => {
  const input = await newTask();
  const { poller, polls } = upstream(succeeded);
  const first = await world.worker({ poller, ...roomy() }).submit(input);
  expect(await world.worker({ poller, ...roomy() }).submit(input, again)).toEqual(first);
  expect([polls(), submits(input)]).toEqual([1, 1]);
});

it.each([
  ['a retry', { attempt: 2 }],
  ['a reset', { attempt: 1, scheduledTimestampMs: 1, currentAttemptScheduledTimestampMs: 2 }],
])('%s polls at once, however soon after the acceptance', async (_, info) => {
  for (const activity of ['submit', 'poll'] as const) {
    const input = await submitted({ expectedSeconds: 600 });
    const { poller, polls } = upstream(succeeded);
    const { state } = await world.worker({ poller, ...roomy() })[activity](input, info);
    expect([activity, state, polls(), submits(input)]).toEqual([activity, succeeds, 1, 1]);
  }
});

it('reports a job as overdue once no concern that polls cannot see takes precedence', async () => {
  const input = await submitted({ expectedSeconds: 600 });
  const heard: unknown[] = [];
  const signals: ChannelActivityDeps['signals'] = {
    concern: async (_task, concern) => void heard.push(concern),
    unserved: async () => undefined,
  };
  const now = () => Date.now() + 55 * 60_000;
  const { poller, polls } = upstream(pending);
  const asked = () => world.worker({ poller, signals, now, ...roomy() }).poll(input, again);
  expect(await world.tasks.setConcern(input.task, 'channel_gone')).toBe(true);
  await expect(asked()).rejects.toMatchObject({ type: 'StillWaiting' });
  expect([polls(), heard, (await world.record(input)).concern]).toEqual([1, [], 'channel_gone']);
  expect(await world.tasks.withdrawConcern(input.task, 'channel_gone')).toBe(true);
  await expect(asked()).rejects.toMatchObject({ type: 'StillWaiting' });
  expect([polls(), heard, (await world.record(input)).concern]).toEqual([2, ['overdue'], 'overdue']);
});

describe('polls that fail', () => {
  const refused = new UpstreamError('unavailable', 'No such key.', { code: 'unauthorized', status: 401 });

  async function failing() {
    const input = await submitted({ expectedSeconds: 600 });
    const heard: unknown[] = [];
    const signals: ChannelActivityDeps['signals'] = {
      concern: async (_task, concern) => void heard.push(concern),
      unserved: async () => undefined,
    };
    const attempt = async (status: OperationStatus | UpstreamError, heartbeatDetails?: unknown) => {
      const worker = world.worker({ ...upstream(status), signals, ...roomy() });
      const run = worker.poll(input, { ...again, heartbeatDetails });
      await expect(run).rejects.toMatchObject({ type: 'StillWaiting' });
      return world.heartbeats.at(-1);
    };
    return { input, heard, attempt, concern: async () => (await world.record(input)).concern };
  }

  it('ask for an operator again once another concern has come and gone', async () => {
    const { input, heard, attempt, concern } = await failing();
    let memory = await attempt(refused);
    expect([heard, await concern()]).toEqual([['poll_failing'], 'poll_failing']);
    memory = await attempt(refused, memory);
    expect(heard).toEqual(['poll_failing']);
    await world.tasks.setConcern(input.task, 'channel_gone');
    memory = await attempt(refused, memory);
    expect([heard, await concern()]).toEqual([['poll_failing'], 'channel_gone']);
    await world.tasks.withdrawConcern(input.task, 'channel_gone');
    await attempt(refused, memory);
    expect([heard, await concern()]).toEqual([['poll_failing', 'poll_failing'], 'poll_failing']);
  });

  it('and then succeed leave the concern that replaced theirs, and its text in the Temporal UI', async () => {
    const { input, heard, attempt, concern } = await failing();
    const memory = await attempt(refused);
    await world.tasks.setConcern(input.task, 'channel_gone');
    await attempt(pending, memory);
    expect([heard, await concern()]).toEqual([['poll_failing'], 'channel_gone']);
  });
});

it('a wait of more than a moment becomes a retry, whose message shows the job’s state', async () => {
  const input = await newTask({ expectedSeconds: 600 });
  await expect(world.worker({ ...upstream(pending), ...roomy() }).submit(input)).rejects.toMatchObject({
    type: 'StillWaiting',
    nonRetryable: false,
    message: expect.stringContaining('next in'),
  });
  expect(submits(input)).toBe(1);
});

it.each([
  ['rests within the attempt where nothing else ends the wait', false],
  ['is a retry where the upstream calls back: that ends a back-off at once', true],
])('a wait of seconds near the expected end %s', async (_, callsBack) => {
  const input = await submitted({ expectedSeconds: 60 });
  const { poller, polls } = upstream(pending, succeeded);
  const nearTheEnd = Date.now() + 55_000;
  const watching = world
    .worker({
      ...roomy(),
      poller: (...of) => ({ ...poller(...of), callsBack: () => callsBack }),
      now: () => nearTheEnd,
    })
    .submit(input, { attempt: 2, heartbeatDetails: { polls: 1, errors: 0, gone: 0, phase: 'running' } });
  if (callsBack) await expect(watching).rejects.toMatchObject({ type: 'StillWaiting' });
  else expect((await watching).state).toEqual(succeeds);
  expect(polls()).toBe(callsBack ? 1 : 2);
});

it('leaves the job to a later poll if this worker has no room for another wait', async () => {
  const input = await newTask();
  const { poller, polls } = upstream(succeeded);
  const stays = createStayPlaces({ placesMax: () => 0, monotonic: Date.now });
  expect((await world.worker({ poller, stays }).submit(input)).state).toEqual({ at: 'waiting', n: 1 });
  expect(polls()).toBe(0);
});

it('polls once and returns after a timer if this worker has no room for another wait', async () => {
  const input = await submitted({ expectedSeconds: 60 });
  const { poller, polls } = upstream(pending);
  const heartbeatDetails = { polls: 1, errors: 0, gone: 0, phase: 'running' };
  const nearTheEnd = Date.now() + 55_000;
  const now = () => nearTheEnd;
  const listing: typeof poller = (...of) => ({ ...poller(...of), lists: () => true });
  const run = world.worker({ poller: listing, now }).poll(input, { attempt: 2, heartbeatDetails });
  const failure: unknown = await run.catch((error: unknown) => error);
  expect(failure).toMatchObject({ type: 'StillWaiting' });
  expect(failure instanceof ApplicationFailure ? Number(failure.nextRetryDelay) : 0).toBeGreaterThan(5_000);
  expect(polls()).toBe(1);
});

it('progress that is reported too soon after the previous one is shown later', async () => {
  const input = await submitted({ expectedSeconds: 60 });
  const waits = { ...pending, queuePosition: 3 };
  const { poller } = upstream(waits, { ...waits, progress: 10 });
  // The clock stops between the attempts, so that the machine's speed does not matter.
  const begunAt = Date.now();
  let aheadMs = 55_000;
  const worker = world.worker({ poller, now: () => begunAt + aheadMs });
  let heartbeatDetails: unknown = { polls: 1, errors: 0, gone: 0, phase: 'running' };
  const shown: unknown[] = [];
  for (const stepMs of [0, 2_000, 20_000]) {
    aheadMs += stepMs;
    await worker.poll(input, { attempt: 2, heartbeatDetails }).catch(() => undefined);
    heartbeatDetails = world.heartbeats.at(-1);
    const { progress, queuePosition } = await world.record(input);
    shown.push(defined({ progress, queuePosition }));
  }
  expect(shown).toEqual([{ queuePosition: 3 }, { queuePosition: 3 }, { progress: 10, queuePosition: 3 }]);
});

it('leaves the job to a poll once the known deadline has passed, because it may have been moved', async () => {
  const input = await newTask();
  const { deadlineAt } = await world.record(input);
  const { poller, polls } = upstream(succeeded);
  const now = () => deadlineAt + 1_000;
  const { state } = await world.worker({ poller, now, ...roomy() }).submit(input);
  expect([state, polls()]).toEqual([{ at: 'waiting', n: 1 }, 0]);
});

it('leaves a job that is no longer wanted to the activity that stops it', async () => {
  const input = await submitted();
  await world.store().step(input.task, { kind: 'wanted', stop: 'cancel' });
  const { poller, polls } = upstream(succeeded);
  const view = await world.worker({ poller, ...roomy() }).submit(input, again);
  expect([view.state, polls()]).toEqual([{ at: 'stopping', n: 1, stop: 'cancel' }, 0]);
});

it('does not wait for a job of another channel', async () => {
  const input = await submitted();
  const { poller, polls } = upstream(succeeded);
  const other = { ...input, candidate: { channel: 'other', credential: 'a' } };
  expect((await world.worker({ poller, ...roomy() }).submit(other, again)).state.at).toBe('waiting');
  expect(polls()).toBe(0);
});

it('reports an error that retrying will not fix', async () => {
  const input = await submitted();
  const gone = new UpstreamError('rejected', 'It knows no such job.', { code: 'not_found', gone: true });
  const memory = { polls: 90, errors: 90, gone: 90, phase: 'running' };
  const now = () => Date.now() + 3_000_000;
  const worker = world.worker({ ...upstream(gone), now, ...roomy() });
  const view = await worker.submit(input, { attempt: 90, heartbeatDetails: memory });
  expect(view.state).toEqual({ at: 'broken', n: 1, code: 'not_found' });
  expect(await world.record(input)).toMatchObject({ attention: 'poll_failed' });
});

it('ends its wait if the configuration lacks the channel', async () => {
  const input = await submitted();
  const stays = createStayPlaces({ placesMax: () => 1, monotonic: Date.now });
  const poller = () => {
    throw new ChannelGoneError('ark');
  };
  const run = world.worker({ poller, stays }).submit(input, again);
  await expect(run).rejects.toMatchObject({ type: 'ChannelGone' });
  expect(stays.isEmpty()).toBe(true);
});

async function endedStay(end: (stays: StayPlaces, task: string) => void): Promise<unknown> {
  const input = await newTask();
  const { poller, polls } = upstream(pending);
  const stays = createStayPlaces({ placesMax: () => 10, monotonic: Date.now });
  const run = world
    .worker({ poller, stays })
    .submit(input)
    .catch((error: unknown) => error);
  await expect.poll(polls).toBeGreaterThan(0);
  end(stays, input.task);
  return run;
}

it('ends and restarts at once when an operator wants its task retried now', async () => {
  const failure = await endedStay((stays, task) => stays.wake(task));
  expect(failure).toMatchObject({ type: 'StillWaiting' });
  expect(failure instanceof ApplicationFailure ? Number(failure.nextRetryDelay) : 9_999).toBeLessThan(1_000);
});

it('finishes a poll in flight before it ends when an operator wants the task retried now', async () => {
  const input = await newTask();
  const { poller, polls } = upstream(pending);
  const stays = createStayPlaces({ placesMax: () => 10, monotonic: Date.now });
  let isCutOff = false;
  const slow: ChannelActivityDeps['poller'] = (candidate, kind) => ({
    ...poller(candidate, kind),
    async status(job, signal) {
      stays.wake(input.task);
      isCutOff ||= signal.aborted;
      return poller(candidate, kind).status(job, signal);
    },
  });
  const run = world.worker({ poller: slow, stays }).submit(input);
  await expect(run).rejects.toMatchObject({ type: 'StillWaiting' });
  expect([polls(), isCutOff]).toEqual([1, false]);
});

it('ends at once when its worker shuts down, and restarts once that worker can no longer receive it', async () => {
  const failure = await endedStay((stays) => stays.close());
  expect(failure).toMatchObject({ type: 'StillWaiting' });
  // The server takes a moment to notice that this worker has stopped polling for work.
  expect(failure instanceof ApplicationFailure ? Number(failure.nextRetryDelay) : 0).toBeGreaterThan(1_000);
});

function laterBy(ms: number) {
  const at = Date.now();
  return { attempt: 2, scheduledTimestampMs: at - ms, currentAttemptScheduledTimestampMs: at };
}

describe('what is learned from a render', () => {
  const lastMs = 40_000;
  const seenMs = 100_000;
  /**
   * Runs one attempt that polls `seenMs` after the job was accepted, with `memory` from earlier attempts. Returns the
   * render times that the attempt learned.
   */
  async function learned(memory: object, endedMs?: number): Promise<number[]> {
    const input = await submitted();
    const acceptedAt = (await world.record(input)).attempts[0]?.endedAt ?? 0;
    const all: number[] = [];
    const worker = world.worker({
      ...upstream({ ...succeeded, ...defined({ endedAt: endedMs && acceptedAt + endedMs }) }),
      ...roomy(),
      now: () => acceptedAt + seenMs,
      renders: { times: () => undefined, learn: (_kind, ms) => void all.push(ms) },
    });
    const heartbeatDetails = {
      errors: 0,
      gone: 0,
      phase: 'running',
      ...memory,
      lastAt: acceptedAt + lastMs,
    };
    await worker.submit(input, { ...laterBy(seenMs), heartbeatDetails });
    return all;
  }

  it.each<[string, object, number]>([
    ['lies between the last question that found it running and the one that did not', { polls: 3 }, 70_000],
    ['is less than what was seen, if it was never found running', { polls: 0 }, 80_000],
  ])('%s', async (_, memory, expected) => {
    expect(await learned(memory)).toEqual([expected]);
  });

  it('is the observed end if the upstream reports one before the acceptance, because its clock differs', async () => {
    expect(await learned({ polls: 3 }, -5_000)).toEqual([70_000]);
    expect(await learned({ polls: 3, errors: 2 }, -5_000)).toEqual([]);
  });

  it('ends when the answer arrived, however long copying its files takes', async () => {
    const input = await submitted();
    const acceptedAt = (await world.record(input)).attempts[0]?.endedAt ?? 0;
    const all: number[] = [];
    let copiedMs = 0;
    const worker = world.worker({
      ...upstream(succeeded),
      ...roomy(),
      now: () => acceptedAt + seenMs + copiedMs,
      deliver: async (_task, items) => {
        copiedMs = 60_000;
        return { items };
      },
      renders: { times: () => undefined, learn: (_kind, ms) => void all.push(ms) },
    });
    await worker.submit(input, laterBy(seenMs));
    expect(all).toEqual([80_000]);
  });

  it('is nothing after failing polls, unless the upstream reports when the job ended', async () => {
    const failing = { polls: 3, errors: 2 };
    expect(await learned(failing)).toEqual([]);
    expect(await learned(failing, 30_000)).toEqual([30_000]);
  });
});

describe('a render time', () => {
  const minuteMs = 60_000;
  const jumpMs = 15 * minuteMs;
  /**
   * Runs one attempt that starts `ms` after the job was accepted by the server's clock, and `aheadMs` after it by the
   * worker's clock. Returns the render times that the attempt learned.
   */
  async function learned({ ms = minuteMs, aheadMs = ms, ...change }: LearnedFrom) {
    const input = await submitted({ expectedSeconds: 600 });
    const acceptedAt = (await world.record(input)).attempts[0]?.endedAt ?? 0;
    const times: number[] = [];
    const worker = world.worker({
      ...upstream({ ...succeeded, ...change.end }),
      ...roomy(),
      now: () => acceptedAt + aheadMs,
      monotonic: () => 0,
      renders: { times: () => undefined, learn: (_kind, renderMs) => void times.push(renderMs) },
    });
    const info = { ...laterBy(ms), ...defined({ heartbeatDetails: change.memory }) };
    expect((await worker[change.activity ?? 'submit'](input, info)).state).toEqual(succeeds);
    return times;
  }
  interface LearnedFrom {
    readonly ms?: number;
    readonly aheadMs?: number;
    readonly activity?: 'submit' | 'poll';
    readonly memory?: PollMemory;
    readonly end?: { readonly endedAt: number };
  }
  const seen: PollMemory = { polls: 1, errors: 0, gone: 0, phase: 'running' };

  it.each(['submit', 'poll'] as const)(
    'is learned by the activity %s where two clocks agree',
    async (activity) => {
      const [ms = 0, ...more] = await learned({ activity });
      expect(more).toEqual([]);
      expect(ms).toBeGreaterThan(0.75 * minuteMs);
      expect(ms).toBeLessThan(minuteMs);
    },
  );

  it.each([
    ['ahead', minuteMs + jumpMs],
    ['back', minuteMs - 20_000],
    ['back to before the acceptance', minuteMs - jumpMs],
  ])('is not learned if the clock was changed %s meanwhile', async (_, aheadMs) => {
    expect(await learned({ aheadMs })).toEqual([]);
    // The upstream's end time is ignored too, because it would be compared with a time from the gateway's clock.
    expect(await learned({ aheadMs, end: { endedAt: Date.now() + aheadMs - 1_000 } })).toEqual([]);
  });

  it('is not learned if Temporal’s clock was changed', async () => {
    expect(await learned({ ms: minuteMs + jumpMs, aheadMs: minuteMs })).toEqual([]);
  });

  it('excludes the time for which the submission had waited', async () => {
    const ms = 10 * minuteMs;
    expect(
      await learned({ ms, aheadMs: minuteMs, memory: { ...seen, acceptedAfterMs: 9 * minuteMs } }),
    ).toHaveLength(1);
    expect(await learned({ ms, aheadMs: minuteMs, memory: seen })).toEqual([]);
  });

  it('is not learned if the clock was changed within one attempt', async () => {
    const times: number[] = [];
    let aheadMs = 0;
    const { poller } = upstream(succeeded);
    const worker = world.worker({
      poller: (candidate, kind) => ({
        ...poller(candidate, kind),
        status: async (...job) => {
          aheadMs = jumpMs;
          return poller(candidate, kind).status(...job);
        },
      }),
      ...roomy(),
      now: () => Date.now() + aheadMs,
      renders: { times: () => undefined, learn: (_kind, renderMs) => void times.push(renderMs) },
    });
    expect((await worker.submit(await newTask())).state).toEqual(succeeds);
    expect(times).toEqual([]);
  });

  it('is also measured from the acceptance in the next attempt; without a wait there is no heartbeat', async () => {
    const remembered = async (ms: number) => {
      const input = await newTask({ expectedSeconds: 600 });
      const worker = world.worker({ ...upstream(pending), ...roomy(), monotonic: () => 0 });
      const run = worker.submit(input, laterBy(ms));
      await expect(run).rejects.toMatchObject({ type: 'StillWaiting' });
      return world.heartbeats.at(-1);
    };
    expect(await remembered(0)).not.toHaveProperty('acceptedAfterMs');
    expect(rememberedPolls(await remembered(minuteMs)).acceptedAfterMs).toBe(minuteMs);
  });
});
