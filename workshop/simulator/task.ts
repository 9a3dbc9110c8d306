import { FaultSet } from './fault.ts';

export interface Task<Detail> {
  readonly id: string;
  readonly model: string;
  readonly prompt: string;
  /** Unix milliseconds, like all times in the simulator. */
  readonly createdAt: number;
  readonly queueMs: number;
  readonly renderMs: number;
  readonly expiresAfterMs: number;
  cancelledAt?: number | undefined;
  readonly callbackUrl?: string | undefined;
  readonly faults?: readonly string[] | undefined;
  readonly detail: Detail;
}

const phases = ['queued', 'running', 'succeeded', 'failed', 'expired', 'cancelled', 'unknown'] as const;
export type Phase = (typeof phases)[number];

/**
 * `words` contains the vendor's words for queued, running, succeeded, failed, expired and cancelled, in this order,
 * followed by a status that the vendor does not have.
 */
export function phaseWords(words: string): (phase: Phase) => string {
  const list = words.split(' ');
  return (phase) => list[phases.indexOf(phase)] ?? '';
}

export interface Moment {
  readonly phase: Phase;
  readonly since: number;
}

export function isFinal(phase: Phase): boolean {
  return !['queued', 'running', 'unknown'].includes(phase);
}

export function momentOf(task: Task<unknown>, now: number): Moment {
  if (task.cancelledAt !== undefined) return { phase: 'cancelled', since: task.cancelledAt };
  if (task.faults !== undefined) return disturbedMoment(task, FaultSet.of(task.faults), now);
  return plainMoment(task, now, 'succeeded');
}

function plainMoment(task: Task<unknown>, now: number, end: 'succeeded' | 'failed'): Moment {
  const startsAt = task.createdAt + task.queueMs;
  const endsAt = startsAt + task.renderMs;
  const expiresAt = task.createdAt + task.expiresAfterMs;
  if (now >= expiresAt && endsAt > expiresAt) return { phase: 'expired', since: expiresAt };
  if (now >= endsAt) return { phase: end, since: endsAt };
  return now >= startsAt ? { phase: 'running', since: startsAt } : { phase: 'queued', since: task.createdAt };
}

function disturbedMoment(task: Task<unknown>, faults: FaultSet, now: number): Moment {
  const never = Number.POSITIVE_INFINITY;
  const effective = {
    ...task,
    queueMs: faults.has('never-starts') ? never : task.queueMs,
    renderMs: faults.has('never-finishes') ? never : task.renderMs,
  };
  const fails = faults.has('failed') || faults.has('moderation-in-task');
  const moment = plainMoment(effective, now, fails ? 'failed' : 'succeeded');
  if (moment.phase !== 'running') return moment;
  if (faults.has('unknown-status')) return { ...moment, phase: 'unknown' };
  const third = task.renderMs / 3;
  const elapsed = now - moment.since;
  if (!faults.has('backwards') || elapsed < third || elapsed >= 2 * third) return moment;
  return { phase: 'queued', since: task.createdAt };
}

export function nextChangeAt(task: Task<unknown>, now: number): number | undefined {
  const moment = momentOf(task, now);
  if (isFinal(moment.phase)) return undefined;
  const startsAt = task.createdAt + task.queueMs;
  const expiresAt = task.createdAt + task.expiresAfterMs;
  const never = FaultSet.of(task.faults);
  if (never.has('never-starts')) return expiresAt;
  if (now < startsAt) return Math.min(startsAt, expiresAt);
  return never.has('never-finishes') ? expiresAt : Math.min(startsAt + task.renderMs, expiresAt);
}
