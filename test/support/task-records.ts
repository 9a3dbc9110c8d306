import type { TaskError } from '../../src/task/task.ts';
import type { Task, TaskOutcome } from '../../src/task/record.ts';
import type { TaskEvent } from '../../src/task/state.ts';
import type { TaskStore } from '../../src/store/tasks.ts';

export const firstCandidate = { channel: 'one', credential: 'a' } as const;
export const secondCandidate = { channel: 'two', credential: 'b' } as const;

export function firstRecord(id: string, change: Partial<Task> = {}): Task {
  const candidates = [firstCandidate, secondCandidate];
  const createdAt = change.createdAt ?? 1;
  return {
    id,
    account: 'a',
    key: 'k',
    kind: 'video',
    model: 'm',
    plan: { candidates },
    createdAt,
    deadlineAt: createdAt + 60_000,
    output: '',
    hold: 1n,
    hasCallback: false,
    rev: 0,
    state: { at: 'queued', round: 1, left: candidates, full: [] },
    stateSince: createdAt,
    status: 'pending',
    attempts: [],
    updatedAt: createdAt,
    traceId: '',
    ...change,
  };
}

export function succeededWith(url: string): Extract<TaskOutcome, { kind: 'succeeded' }> {
  return { kind: 'succeeded', items: [{ url }], facts: {} };
}

type SucceededOutcome = Extract<TaskOutcome, { kind: 'succeeded' }>;
type FailedOutcome = Extract<TaskOutcome, { kind: 'failed' }>;

/** Advances a task's record as the activities would. Throws if a step is not possible. */
export function taskDriver(tasks: Pick<TaskStore, 'step' | 'look'>) {
  async function step(id: string, event: TaskEvent): Promise<Task> {
    const stepped = await tasks.step(id, event);
    if (!stepped.ok) throw new Error(`${event.kind}: ${stepped.message}`);
    return stepped.task;
  }

  async function send(
    id: string,
    candidate: Task['plan']['candidates'][number] = firstCandidate,
  ): Promise<number> {
    const n = ((await tasks.look(id))?.attempts.length ?? 0) + 1;
    const marker = `mark-${id}-${n}`;
    const { attempts } = await step(id, { kind: 'sending', candidate, owner: 'run', marker });
    return attempts.find(({ state }) => state === 'sending')?.n ?? 0;
  }

  async function accept(id: string, upstreamId = `up-${id}`, traceId = upstreamId): Promise<number> {
    const n = await send(id);
    await step(id, { kind: 'accepted', n, operation: { id: upstreamId }, traceId });
    return n;
  }

  async function lose(id: string): Promise<number> {
    const n = await send(id);
    await step(id, { kind: 'lost', n, owner: 'run', code: 'upstream_timeout' });
    return n;
  }

  async function polled(id: string, outcome: TaskOutcome, traceId?: string): Promise<void> {
    const state = (await tasks.look(id))?.state;
    const n = state?.at === 'waiting' ? state.n : await accept(id);
    const traced = traceId === undefined ? {} : { traceId };
    await step(id, { kind: 'polled', n, outcome, unbilled: false, ...traced });
  }

  return {
    step,
    send,
    accept,
    lose,
    async ask(id: string): Promise<void> {
      await lose(id);
      await step(id, { kind: 'asked' });
    },
    polled,
    async succeed(id: string, outcome: SucceededOutcome, charge = 1n, traceId?: string): Promise<void> {
      await polled(id, outcome, traceId);
      await step(id, { kind: 'ended', status: 'succeeded', charge, chargeEstimated: false });
    },
    async fail(id: string, error: TaskError, outcome?: FailedOutcome): Promise<void> {
      await (outcome === undefined ? step(id, { kind: 'orphaned' }) : polled(id, outcome));
      await step(id, { kind: 'ended', status: 'failed', charge: 0n, chargeEstimated: false, error });
    },
  };
}

export type TaskDriver = ReturnType<typeof taskDriver>;
