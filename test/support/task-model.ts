import { next } from '../../src/task/next.ts';
import type { Changes, Next } from '../../src/task/transition.ts';
import type { Task, TaskPlan } from '../../src/task/record.ts';
import type { EventOf, Question, TaskEvent } from '../../src/task/state.ts';

export const start = 1_800_000_000_000;
export const hour = 3_600_000;

export const on = (channel: string, credential = 'key') => ({ channel, credential });

export const fallbackOf = (...channels: readonly string[]): NonNullable<TaskPlan['fallback']> => ({
  candidates: channels.map((channel) => on(channel)),
  on: ['capacity', 'internal'],
  neededSeconds: 60,
});

export function newTask(channels: readonly string[] = ['a', 'b'], fallback?: TaskPlan['fallback']): Task {
  const candidates = channels.map((channel) => on(channel));
  return {
    id: 'task_1',
    account: 'account',
    key: 'key',
    kind: 'video',
    model: 'model',
    plan: fallback === undefined ? { candidates } : { candidates, fallback },
    createdAt: start,
    deadlineAt: start + 24 * hour,
    output: '720p/5',
    hold: 1_000_000n,
    hasCallback: false,
    rev: 0,
    state: { at: 'creating', tryId: 'try-1', round: 1, left: candidates, full: [] },
    stateSince: start,
    status: 'pending',
    attempts: [],
    updatedAt: start,
    traceId: '',
  };
}

export function withChanges(task: Task, changes: Changes): Task {
  const entries = Object.entries({ ...task, ...changes }).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(entries) as unknown as Task), rev: task.rev + 1 };
}

export function after(task: Task, ...events: readonly TaskEvent[]): Task {
  return events.reduce((before, event) => stepped(before, event), task);
}

export function timeOf({ deadlineAt }: Task, event: TaskEvent): number {
  return event.kind === 'wanted' && event.stop === 'expire' ? deadlineAt : start;
}

export function stepped(task: Task, event: TaskEvent, at = timeOf(task, event)): Task {
  const answer = next(task, event, at);
  if (!answer.ok) throw new Error(`${event.kind}: ${answer.message}`);
  return Object.keys(answer.changes).length === 0 ? task : withChanges(task, answer.changes);
}

export function refusal(task: Task, event: TaskEvent, at = timeOf(task, event)): string | undefined {
  const answer: Next = next(task, event, at);
  return answer.ok ? undefined : `${answer.code}: ${answer.message}`;
}

type Without<Name extends TaskEvent['kind'], Field extends PropertyKey> = Partial<
  Omit<EventOf<Name>, Field | 'kind'>
>;

export const events = {
  sending: (channel: string, owner = 'run-1', n: number = 1): TaskEvent => ({
    kind: 'sending', candidate: on(channel), owner, marker: `mediary-1-${n}`,
  }), // prettier-ignore
  accepted: (n: number, id = `job-${n}`): TaskEvent => ({ kind: 'accepted', n, operation: { id } }),
  notAccepted: (channel: string, more: Without<'not_accepted', 'candidate'> = {}): TaskEvent => ({
    kind: 'not_accepted', candidate: on(channel), code: 'throttled', message: 'Later.', stays: false, ...more,
  }), // prettier-ignore
  rejected: (n: number, failure: 'capacity' | 'invalid_input' = 'invalid_input', owner = 'run-1'): TaskEvent => ({
    kind: 'rejected', n, owner, code: 'bad', message: 'No.', failure: { class: failure },
  }), // prettier-ignore
  lost: (n: number, owner?: string): TaskEvent => ({
    kind: 'lost', n, code: 'timeout', ...(owner === undefined ? {} : { owner }),
  }), // prettier-ignore
  succeeded: (n: number, more: Without<'polled', 'n' | 'outcome'> = {}): TaskEvent => ({
    kind: 'polled', n, unbilled: false, outcome: { kind: 'succeeded', items: [], facts: {} }, ...more,
  }), // prettier-ignore
  failed: (n: number, unbilled = false, of: 'internal' | 'cancelled' | 'invalid_input' = 'internal'): EventOf<'polled'> => ({
    kind: 'polled', n, unbilled, outcome: { kind: 'failed', code: 'broke', message: 'It broke.', failure: { class: of } },
  }), // prettier-ignore
  wanted: (stop: EventOf<'wanted'>['stop']): EventOf<'wanted'> => ({ kind: 'wanted', stop }),
  completed: {
    kind: 'completed', outcome: { kind: 'succeeded', items: [{ url: 'https://files.example/a.mp4' }], facts: {} }, charge: '9',
  }, // prettier-ignore
  reviewed: (why: Question['why'] = 'above_hold'): TaskEvent =>
    why === 'unsettled' || why === 'unreleased'
      ? { kind: 'reviewed', why }
      : { kind: 'reviewed', charge: '9000000', why },
  ended: (status: 'succeeded' | 'failed'): TaskEvent => ({
    kind: 'ended', status, charge: status === 'succeeded' ? 5n : 0n, chargeEstimated: false,
  }), // prettier-ignore
} satisfies Record<string, TaskEvent | ((...parameters: never[]) => TaskEvent)>;
