import { randomUUID } from 'node:crypto';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { createActIds } from '../../src/access/act-ids.ts';
import { createActOnTask } from '../../activities/act.ts';
import type { ChannelActivityDeps, TaskActivityDeps } from '../../activities/deps.ts';
import { withHeartbeat } from '../../activities/heartbeat.ts';
import { createTaskSteps } from '../../activities/look.ts';
import { viewOf } from '../../activities/task-view.ts';
import { watchedJob, type WatchedJob } from '../../src/task/watched-job.ts';
import type {
  CallbackActivities,
  ChannelActivities,
  FinishInput,
  FirstCallback,
  SubmitInput,
  TaskActivities,
  TaskView,
  Woken,
} from '../../activities/types.ts';
import type { FailureClass } from '../../src/errors/failure.ts';
import type { RouteCandidate } from '../../src/task/candidates.ts';
import { attemptAt, isLost, isSubmitting, sameCandidate, type TaskEvent } from '../../src/task/state.ts';
import type { Task } from '../../src/task/record.ts';
import { taskFailures } from '../../src/task/failures.ts';
import { UpstreamError } from '../../src/providers/provider.ts';
import { PlayedRecords } from './played-records.ts';

export type SubmitAnswer =
  | { readonly kind: 'accepted'; readonly id: string }
  | { readonly kind: 'not_accepted'; readonly stays?: true }
  | { readonly kind: 'rejected'; readonly class?: FailureClass }
  | { readonly kind: 'lost' };

export type JobEnd =
  | { readonly kind: 'succeeded' }
  /** A failed job with a `class` is free of charge, so it may be replaced. */
  | { readonly kind: 'failed'; readonly class?: FailureClass }
  | { readonly kind: 'broken' };

export interface Upstream {
  gate(submit: SubmitInput): Promise<void>;
  submit(submit: SubmitInput, post: number): Promise<SubmitAnswer>;
  wait(job: string, wait: number): Promise<JobEnd>;
  /** Resolves to how the job ended, or to undefined while it is running. */
  status(job: string): Promise<JobEnd | undefined>;
  cancel(job: string): Promise<'cancelled' | 'refused'>;
  /**
   * Resolves to undefined if there is no job yet. The function itself is undefined if the upstream cannot be searched.
   */
  find?: (task: string) => Promise<string | undefined>;
  /** The charge about which an operator is asked, in micro-units. If undefined, nobody is asked. */
  reviewed?: string;
  /** Jobs that exist at the upstream, so that an operator can name one. */
  readonly known: string[];
  callback: FirstCallback;
  woken: Woken;
  configured: readonly string[];
  isTimeRight: boolean;
  isForgotten: boolean;
  writeMs: number;
  acted(): Promise<void>;
}

/** Fails an attempt at an activity. The next attempt would come only after the end of the test. */
export const later = (): Promise<never> => {
  throw ApplicationFailure.create({ message: 'later', nextRetryDelay: '10m' });
};
export const forGood = (): Promise<never> => {
  throw ApplicationFailure.nonRetryable('it died');
};
export const asks = (): Promise<never> => withHeartbeats(Context.current().cancelled);

export async function withHeartbeats<Result>(work: Promise<Result>): Promise<Result> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 200);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

export function quietUpstream(): Upstream {
  return {
    gate: async () => undefined,
    submit: async (_submit, post) => ({ kind: 'accepted', id: `job-${post}` }),
    wait: later,
    status: async () => undefined,
    cancel: async () => 'refused',
    known: [],
    callback: { state: 'delivered' },
    woken: { kind: 'begun' },
    configured: ['one', 'two'],
    isTimeRight: true,
    isForgotten: false,
    writeMs: 0,
    acted: async () => undefined,
  };
}

export interface PlayedActivities {
  readonly records: PlayedRecords;
  readonly calls: Map<string, string[]>;
  readonly task: TaskActivities;
  readonly channel: ChannelActivities;
  readonly callback: CallbackActivities;
}

const facts = { durationSeconds: 5 };

export function playActivities(upstream: () => Upstream): PlayedActivities {
  const records = new PlayedRecords();
  const calls = new Map<string, string[]>();
  const note = (task: string, call: string): number => {
    const seen = calls.get(task) ?? [];
    calls.set(task, seen);
    return seen.push(call);
  };
  const count = (task: string, call: string): number =>
    (calls.get(task) ?? []).filter((one) => one.startsWith(call)).length;
  const step = async (id: string, event: TaskEvent): Promise<Task> =>
    (await records.step(id, event)).task ?? records.of(id);
  const deps = fakeDeps(records, upstream);
  const view = (task: Task) => viewOf(task, deps);
  const steps = createTaskSteps(deps);
  const actOnTask = createActOnTask(deps);

  async function submitOnce(task: Task, input: SubmitInput): Promise<Task> {
    const { state } = task;
    if (state.at === 'sending') return step(task.id, { kind: 'lost', n: state.n, code: 'submission_lost' });
    await upstream().gate(input);
    const { candidate } = input;
    const owner = randomUUID();
    const n = task.attempts.length + 1;
    const marker = n === 1 ? `${task.id}-marker` : `${task.id}-marker-${n}`;
    const begun = await step(task.id, { kind: 'sending', candidate, owner, marker });
    const attempt = begun.state.at === 'sending' ? attemptAt(begun.state, begun.attempts) : undefined;
    if (attempt?.owner !== owner) return begun;
    note(task.id, `post ${candidate.channel}`);
    const answer = await withHeartbeats(upstream().submit(input, count(task.id, 'post')));
    const whose = { n: attempt.n, owner };
    return record(answer, { task: task.id, candidate, whose });
  }

  async function record(
    answer: SubmitAnswer,
    {
      task,
      candidate,
      whose,
    }: { task: string; candidate: RouteCandidate; whose: { n: number; owner: string } },
  ): Promise<Task> {
    switch (answer.kind) {
      case 'accepted': {
        const after = await step(task, { kind: 'accepted', n: whose.n, operation: { id: answer.id } });
        return stop(after);
      }
      case 'not_accepted': {
        const stays = answer.stays === true;
        const word = { code: 'throttled', message: 'not now', stays };
        const after = await step(task, { kind: 'not_accepted', candidate, ...whose, ...word });
        return stays && isSubmitting(after.state) ? later() : after;
      }
      case 'rejected':
        return step(task, {
          kind: 'rejected',
          ...whose,
          code: 'no',
          message: 'no',
          ...failureOf(answer.class),
        });
      case 'lost':
        return step(task, { kind: 'lost', ...whose, code: 'timeout' });
      default:
        return answer satisfies never;
    }
  }

  async function watch(job: WatchedJob): Promise<TaskView> {
    const id = job.operation.id;
    note(job.task, `wait ${id}`);
    return view(await recordEnd(job, await upstream().wait(id, count(job.task, 'wait'))));
  }

  function recordEnd({ task, n, operation }: WatchedJob, end: JobEnd): Promise<Task> {
    const of = { n, job: operation.id };
    if (end.kind === 'broken') return step(task, { kind: 'broken', ...of, code: 'unknown_job' });
    const failed = {
      kind: 'failed',
      code: 'broke',
      message: 'it broke',
      ...failureOf(end.kind === 'failed' ? end.class : undefined),
    } as const;
    const outcome = end.kind === 'failed' ? failed : ({ kind: 'succeeded', items: [], facts } as const);
    return step(task, { kind: 'polled', ...of, outcome, unbilled: true });
  }

  async function stop(task: Task): Promise<Task> {
    const job = watchedJob(task);
    if (task.state.at !== 'stopping' || job === undefined) return task;
    const isCancellation = task.state.stop === 'cancel';
    if (!isCancellation) {
      note(task.id, 'last question');
      const end = await upstream().status(job.operation.id);
      if (end !== undefined) return recordEnd(job, end);
    }
    note(task.id, 'cancel');
    const isCancelled = (await withHeartbeats(upstream().cancel(job.operation.id))) === 'cancelled';
    return step(task.id, { kind: isCancellation && !isCancelled ? 'unstoppable' : 'stopped' });
  }

  async function finish({ task: id }: FinishInput): Promise<TaskView> {
    const task = records.of(id);
    if (task.state.at !== 'ending') return view(task);
    note(id, 'finish');
    const { ending } = task.state;
    const { reviewed } = upstream();
    if (ending.kind === 'succeeded' && ending.approved !== true && reviewed !== undefined) {
      return view(await step(id, { kind: 'reviewed', charge: reviewed, why: 'above_hold' }));
    }
    const how =
      ending.kind === 'failed'
        ? ({ status: 'failed', charge: 0n, error: ending.error ?? taskFailures.upstream } as const)
        : ({ status: 'succeeded', charge: 700_000n } as const);
    return view(await step(id, { kind: 'ended', chargeEstimated: false, ...how }));
  }

  return {
    records,
    calls,
    task: {
      ...steps,
      async actOnTask(request) {
        await slow(upstream);
        const reply = await actOnTask(request);
        await upstream().acted();
        return reply;
      },
      async stepTask(task, event) {
        await slow(upstream);
        return steps.stepTask(task, event);
      },
      async findLostJob(id) {
        const task = records.of(id);
        if (!isLost(task.state)) return view(task);
        note(id, 'find');
        const { find } = upstream();
        if (find === undefined) return view(await step(id, { kind: 'asked' }));
        const found = await find(id);
        if (found === undefined) throw ApplicationFailure.create({ message: 'not there yet' });
        return view(await step(id, { kind: 'accepted', n: task.state.n, operation: { id: found } }));
      },
      stopJob: async (id) => view(await stop(records.of(id))),
      finishTask: finish,
      firstCallback: async (id) => {
        note(id, 'first callback');
        return upstream().callback;
      },
      wakeTask: async (task, activity) => {
        note(task, `wake ${activity}`);
        return upstream().woken;
      },
      reconcileTasks: () => Promise.reject(new Error('not played')),
    },
    channel: {
      async submit(input) {
        const before = records.of(input.task);
        note(input.task, `submit ${input.candidate.channel}`);
        const task = isSubmitting(before.state) ? await submitOnce(before, input) : before;
        const job = task.state.at === 'waiting' ? watchedJob(task) : undefined;
        const isHere = job !== undefined && sameCandidate(job.candidate, input.candidate);
        return isHere && !Context.current().cancellationSignal.aborted ? watch(job) : view(task);
      },
      async poll({ task: id }) {
        const task = records.of(id);
        const isWatched = task.state.at === 'waiting' || task.state.at === 'stopping';
        const job = isWatched ? watchedJob(task) : undefined;
        return job === undefined ? view(task) : watch(job);
      },
    },
    callback: {
      async deliverCallback(task) {
        note(task, 'callback');
      },
    },
  };
}

async function slow(upstream: () => Upstream): Promise<void> {
  const { writeMs } = upstream();
  if (writeMs > 0) await new Promise((resolve) => void setTimeout(resolve, writeMs));
}

function failureOf(of: FailureClass | undefined): {
  readonly failure?: Extract<TaskEvent, { kind: 'rejected' }>['failure'] & object;
} {
  return of === undefined ? {} : { failure: { class: of } };
}

const playedActIds = createActIds(Buffer.alloc(32));

function fakeDeps(records: PlayedRecords, upstream: () => Upstream): ChannelActivityDeps & TaskActivityDeps {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const provider = {
    status: ({ id }: { readonly id: string }) => {
      if (!upstream().known.includes(id))
        throw new UpstreamError('rejected', 'no such job', { code: 'unknown', gone: true });
      return withHeartbeat(Promise.resolve({ state: 'pending' }));
    },
  };
  const channel = {
    config: { timeouts: { poll_ms: 5_000 }, models: {}, credentials: [{ id: 'a' }, { id: 'b' }] },
    context: () => ({}),
  };
  const kept = { keepUntil: async () => undefined };
  const fake: unknown = {
    tasks: records,
    log: silent,
    now: Date.now,
    scrub: (text: string) => text,
    requests: {
      find: async () => ({ request: { kind: 'video' } }),
      isForgotten: () => upstream().isForgotten,
      ...kept,
    },
    slots: { ...kept, release: async () => undefined },
    keySlots: kept,
    ledger: { void: async () => ({ closed: 'released' }) },
    channels: (name: string) =>
      upstream().configured.includes(name)
        ? { ...channel, provider: { video: { ...provider, find: upstream().find } } }
        : undefined,
    actorOf: playedActIds.actorOf,
    auditLog: { keep: (_act: unknown, run: () => Promise<unknown>) => run() },
    canOpen: async () => undefined,
    isConfigCurrent: () => true,
    isTimeRight: () => upstream().isTimeRight,
    cancelRequest: async () => undefined,
    deliver: async (_task: string, items: unknown) => ({ items }),
    measure: () => Promise.resolve(undefined),
    shapeOf: () => undefined,
  };
  return fake as ChannelActivityDeps & TaskActivityDeps;
}
