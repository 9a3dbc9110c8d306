import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTerminal, taskStatuses } from '../../src/task/task.ts';
import { next } from '../../src/task/next.ts';
import type { Task } from '../../src/task/record.ts';
import {
  attemptAt,
  isAbandoned,
  isIdle,
  isLost,
  isSubmitting,
  isUnfinished,
  sameCandidate,
  stopOf,
  hasJob,
} from '../../src/task/state.ts';
import type { TaskEvent } from '../../src/task/state.ts';
import { actionTable, operatorActions } from '../../src/operating/acts.ts';
import { waitsOf, withWait } from '../../src/task/state-wait.ts';
import { briefMs, pastWaitsMax, waitReasons, type NewWait } from '../../src/task/wait.ts';
import { actEvents } from '../support/act-events.ts';
import {
  events,
  fallbackOf,
  newTask,
  on,
  refusal,
  start,
  stepped,
  withChanges,
  timeOf,
} from '../support/task-model.ts';

const made = { kind: 'succeeded', items: [], facts: {} } as const;
const channels = ['a', 'b', 'c'] as const;
const owners = ['run-1', 'run-2'] as const;

/** If `aimed` is set, the event fits the task's current state. Otherwise, it is arbitrary. */
interface Move {
  readonly kind: TaskEvent['kind'];
  readonly aimed: boolean;
  readonly pick: number;
  readonly flags: number;
  readonly waitMs: number;
}

const weights: Readonly<Record<Move['kind'], number>> = {
  sending: 14, accepted: 8, not_accepted: 12, rejected: 2, lost: 5, asked: 2, resumed: 7, skipped: 2, polled: 4,
  broken: 2, wanted: 2, stopped: 2, unstoppable: 2, adopted: 3, undone: 3, resubmitted: 4, completed: 1, extended: 1,
  reviewed: 2, approved: 1, acted: 1, orphaned: 1, ended: 2, abandoned: 1, taken_over: 1, held: 1, begun: 1, rendering: 2,
}; // prettier-ignore

const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.oneof(
    ...Object.entries(weights).map(([kind, weight]) => ({
      weight,
      arbitrary: fc.constant(kind as Move['kind']),
    })),
  ),
  aimed: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  pick: fc.nat(11),
  flags: fc.nat(63),
  waitMs: fc.constantFrom(0, 0, 1, 4_000, 60_000, 700_000),
});

const of = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item;

function eventOf(
  kind: TaskEvent['kind'],
  { aimed, pick, flags, elapsedMs }: Move & { readonly elapsedMs: number },
  task: Task,
): TaskEvent {
  const { state, attempts } = task;
  const subject = aimed ? attemptAt(state, attempts) : undefined;
  const n = subject?.n ?? 1 + (pick % 4);
  const owner = subject?.owner ?? of(owners, pick);
  const asked = isSubmitting(state) ? state.left[0] : undefined;
  const candidate = (aimed ? (subject ?? asked) : undefined) ?? on(of(channels, pick));
  const { channel, credential } = candidate;
  const flag = (bit: number): boolean => (flags & (1 << bit)) !== 0;
  const operation = { id: `job-${flag(0) ? n : pick}` };
  switch (kind) {
    case 'sending':
      return {
        kind,
        candidate: { channel, credential },
        owner: of(owners, flags),
        marker: `m-${attempts.length + 1}`,
      };
    case 'accepted':
      return { kind, n, operation, ...(flag(1) && flag(2) ? { outcome: made } : {}) };
    case 'not_accepted':
      return {
        kind,
        candidate: { channel, credential },
        ...(subject === undefined && flag(0) ? {} : { n, owner }),
        code: 'throttled',
        ...(flag(1) ? { full: true as const } : {}),
        message: 'Later.',
        stays: flag(2) && flag(3),
        ...(flag(4) ? { retryAfterMs: 600_000 * (1 + pick) } : {}),
        elapsedMs,
      };
    case 'rejected':
      return {
        kind,
        ...(flag(0) && flag(1) ? {} : { n, owner }),
        code: 'bad',
        message: 'No.',
        elapsedMs,
        ...(flag(2) ? { failure: { class: flag(3) ? 'capacity' : 'invalid_input' } as const } : {}),
      };
    case 'lost':
      return { kind, n, code: 'timeout', ...(flag(0) ? { owner } : {}) };
    case 'polled': {
      const job = flag(4) ? {} : { job: attempts.find((one) => one.n === n)?.operation?.id ?? 'unknown' };
      return flag(0)
        ? { ...events.succeeded(n), ...job }
        : { ...events.failed(n, flag(1), flag(2) ? 'internal' : 'cancelled'), ...job, elapsedMs };
    }
    case 'wanted':
      return events.wanted(of(['cancel', 'expire', 'fail'], pick));
    case 'skipped':
      return { kind, channels: [channel] };
    case 'resubmitted':
      return flag(0) ? { kind } : { kind, channel: of([...channels, 'unknown'], pick) };
    case 'adopted':
      return { kind, operation: { id: `adopted-${pick}` } };
    case 'rendering':
      return { kind, n };
    case 'broken':
      return { kind, n, code: 'not_found' };
    case 'extended':
      return { kind, seconds: 3600 };
    case 'reviewed':
      return events.reviewed(of(['above_hold', 'unwritable', 'unsettled', 'unreleased'], pick));
    case 'ended':
      return events.ended(flag(0) ? 'succeeded' : 'failed');
    case 'completed':
      return events.completed;
    case 'abandoned':
      return { kind, tryId: aimed && state.at === 'creating' ? state.tryId : `try-${pick % 3}` };
    case 'taken_over':
      return { kind, tryId: `try-${pick % 3}` };
    case 'held':
      return { kind, hold: 2_000_000n };
    case 'resumed':
      return aimed ? { kind, elapsedMs } : { kind };
    case 'acted':
    case 'approved':
    case 'asked':
    case 'begun':
    case 'orphaned':
    case 'stopped':
    case 'undone':
    case 'unstoppable':
      return { kind };
    default:
      return kind satisfies never;
  }
}

const plans = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  fallback: fc.constantFrom(undefined, ['c'], ['a', 'b', 'c']),
});

interface Memory {
  /** Upstream jobs that were reported, except those that an operator has since dropped. */
  readonly jobs: Set<string>;
  /** The time before which a channel must not be called, unless an operator asks for it. */
  readonly named: Map<string, number>;
  begunAt: number;
}

const nothingKnown = (): Memory => ({ jobs: new Set(), named: new Map(), begunAt: start });

function walk(task: Task, moves: readonly Move[], see: (task: Task) => void = () => undefined): void {
  const memory = nothingKnown();
  let now = start;
  let current = frozen(task);
  for (const one of moves) {
    now += one.waitMs;
    if (one.kind === 'resumed' && current.state.at === 'pausing' && one.aimed)
      now = Math.max(now, current.state.until);
    const noted = one.flags % 3 === 0 ? withWait(current, noteOf(one), now) : undefined;
    if (noted !== undefined) current = frozen({ ...withChanges(current, noted), rev: current.rev });
    now += of([0, 0, 900, 1_500, 20_000], one.flags);
    const event = eventOf(one.kind, { ...one, elapsedMs: now - memory.begunAt }, current);
    if (event.kind === 'wanted' && one.flags % 4 !== 0) now = Math.max(now, timeOf(current, event));
    const answer = next(current, event, now);
    if (!answer.ok) {
      expect(answer.message).toMatch(/^\S.{9,}\.$/);
      continue;
    }
    if (Object.keys(answer.changes).length === 0) continue;
    if ('elapsedMs' in event && 'resting' in answer.changes && 'state' in answer.changes)
      memory.begunAt = now;
    const before = current;
    current = frozen(withChanges(before, answer.changes));
    expectStep({ before, after: current, event, now, memory });
    expectRecord(current, memory);
    expectExplained(current, now);
    expectWayOut(current, now);
    see(current);
  }
}

function noteOf({ pick, flags }: Move): NewWait {
  return { cause: of(waitReasons, pick), channel: of(channels, flags), ahead: pick };
}

function expectExplained(task: Task, now: number): void {
  let explained = task.createdAt;
  for (const span of waitsOf(task)) {
    expect(span.since - explained).toBeLessThanOrEqual(briefMs);
    const end = 'ended' in span ? span.ended : now;
    expect(end).toBeGreaterThanOrEqual(span.since);
    explained = end;
  }
  expect((task.completedAt ?? now) - explained).toBeLessThanOrEqual(briefMs);
  expect(task.wait === undefined || isUnfinished(task.state)).toBe(true);
  expect(task.waited?.length ?? 0).toBeLessThanOrEqual(pastWaitsMax);
}

function frozen(task: Task): Task {
  const freeze = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
    Object.freeze(value);
    for (const part of Object.values(value)) freeze(part);
  };
  freeze(task);
  return task;
}

interface Step {
  readonly before: Task;
  readonly after: Task;
  readonly event: TaskEvent;
  readonly now: number;
  readonly memory: Memory;
}

function expectStep({ before, after, event, now, memory }: Step): void {
  const { jobs, named } = memory;
  if (before.state.at === 'ended') {
    const { state, status, charge, error, outcome, completedAt } = before;
    expect(after).toMatchObject({ state, status });
    expect([after.charge, after.error, after.outcome, after.completedAt]).toEqual([
      charge,
      error,
      outcome,
      completedAt,
    ]);
  }
  expect(isAbandoned(before.state)).toBe(false);
  if (isTerminal(before.status)) expect(after.status).toBe(before.status);
  const order = [before, after].map(({ status }) => taskStatuses.indexOf(status));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  if (before.state.at !== 'creating') expect(after.state.at).not.toBe('creating');
  if (before.outcome?.kind === 'succeeded') expect(after.outcome?.kind).toBe('succeeded');
  if (event.kind === 'sending') {
    // Nothing may be submitted after a stop was requested, or while an upstream has, or may have, the job.
    expect(stopOf(before.state)).toBeUndefined();
    expect(before.attempts.filter(({ state }) => ['sending', 'accepted', 'lost'].includes(state))).toEqual(
      [],
    );
    expect(named.get(event.candidate.channel) ?? 0).toBeLessThanOrEqual(now);
    named.delete(event.candidate.channel);
  }
  if (event.kind === 'accepted' || event.kind === 'adopted') jobs.add(event.operation.id);
  if (event.kind === 'undone') jobs.delete(attemptAt(before.state, before.attempts)?.operation?.id ?? '');
  remember(before, event, { named, now });
}

function remember(
  before: Task,
  event: TaskEvent,
  { named, now }: Pick<Memory, 'named'> & { now: number },
): void {
  if (event.kind === 'not_accepted' && event.retryAfterMs !== undefined) {
    const { channel } = before.attempts.find(({ n }) => n === event.n) ?? event.candidate;
    named.set(channel, now + event.retryAfterMs);
    // Forget the time in two cases. If the task stays with the channel, its wait is recorded separately. If no request
    // was sent, the channel's time does not outlive the round.
    if (event.stays || event.n === undefined) named.delete(channel);
  }
  if (event.kind === 'resubmitted') named.clear();
  if (event.kind === 'resumed' && before.state.at === 'pausing' && now < before.state.until) named.clear();
}

function expectRecord(task: Task, { jobs }: Memory): void {
  const { state, attempts, plan } = task;
  const inState = (...names: readonly string[]) => attempts.filter((one) => names.includes(one.state));
  expect(isTerminal(task.status)).toBe(state.at === 'ended' && !isAbandoned(state));
  expect(inState('sending', 'accepted', 'lost').length).toBeLessThanOrEqual(1);
  expect(inState('sending').map(({ n }) => n)).toEqual(state.at === 'sending' ? [state.n] : []);
  expect(inState('lost').map(({ n }) => n)).toEqual(isLost(state) ? [state.n] : []);
  if (hasJob(state)) {
    expect(inState('accepted')).toMatchObject([{ n: state.n, operation: { id: expect.any(String) } }]);
  }
  if (isSubmitting(state) || state.at === 'pausing') {
    expect(inState('accepted')).toEqual([]);
    for (const list of [state.full, task.resting ?? []]) {
      expect(new Set(list.map(({ channel }) => channel)).size).toBe(list.length);
    }
  }
  if (isSubmitting(state)) expect(state.left.length).toBeGreaterThan(0);
  if (state.at === 'pausing') expect(Number.isFinite(state.until)).toBe(true);
  const decided = state.at === 'review' && state.why !== 'unreleased';
  if (decided || (state.at === 'ending' && state.ending.kind === 'succeeded')) {
    expect(task.outcome?.kind).toBe('succeeded');
  }
  const known = attempts.flatMap(({ operation, stray }) => [operation?.id, stray?.id]);
  for (const job of jobs) expect(known).toContain(job);
  // Attempts are numbered in order, and each candidate has at most one attempt that may still be resubmitted.
  expect(attempts.map(({ n }) => n)).toEqual(attempts.map((_, index) => index + 1));
  const open = attempts.filter((one) => one.state === 'not_accepted' && one.stray === undefined);
  expect(open.filter((one, index) => open.findIndex((other) => sameCandidate(one, other)) < index)).toEqual(
    [],
  );
  expect(new Set(attempts.map(({ marker }) => marker)).size).toBe(attempts.length);
  expect(plan.candidates.length).toBeGreaterThan(0);
}

function expectWayOut(task: Task, now: number): void {
  const { state } = task;
  if (!isUnfinished(state)) return;
  if (state.at === 'ending') {
    const status = state.ending.kind;
    expect(stepped(task, events.ended(status), now)).toMatchObject({ state: { at: 'ended' }, status });
  }
  const possible = operatorActions.filter((name) =>
    actionTable[name].possible.some((one) => one === state.at),
  );
  expect(possible).toContain('fail');
  const done = possible.filter((name) =>
    actEvents[name].some((event) => refusal(task, event, now) === undefined),
  );
  expect(done).toContain('fail');
  for (const failed of afterFail(task, now)) {
    expect(failed.state).toMatchObject({ at: 'ending', ending: { kind: 'failed' } });
  }
  // The task's end may turn out to be impossible to write, so that an operator is asked again. The same action must
  // then still finish the task.
  const unwritten = { ...events.reviewed('unreleased') };
  for (const failed of afterFail(task, now)) {
    const asked = refusal(failed, unwritten, now) === undefined ? stepped(failed, unwritten, now) : failed;
    const again = stepped(asked, events.wanted('fail'), now);
    expect(asked === failed || refusal(again, unwritten, now) !== undefined).toBe(true);
  }
}

function afterFail(task: Task, now: number): readonly Task[] {
  const failed = stepped(task, events.wanted('fail'), now);
  if (failed.state.at === 'ending') return [failed];
  const inFlight = failed.state.at === 'sending' ? attemptAt(failed.state, failed.attempts) : undefined;
  if (inFlight === undefined) return [stepped(failed, { kind: 'stopped' }, now)];
  const { n, owner, channel } = inFlight;
  return [
    stepped(failed, events.notAccepted(channel, { n, owner }), now),
    stepped(failed, events.rejected(n, 'capacity', owner), now),
    stepped(stepped(failed, events.lost(n), now), { kind: 'stopped' }, now),
    stepped(stepped(failed, events.accepted(n, 'last'), now), { kind: 'stopped' }, now),
  ];
}

describe('whatever happens to a task', () => {
  it('keeps every promise after every event', () => {
    const seen = new Map<string, number>();
    const see = ({ state, attempts }: Task): void => {
      for (const name of [`state ${state.at}`, ...attempts.map((one) => `attempt ${one.state}`)]) {
        seen.set(name, (seen.get(name) ?? 0) + 1);
      }
      if (attempts.some(({ stray }) => stray !== undefined)) seen.set('stray', (seen.get('stray') ?? 0) + 1);
    };
    fc.assert(
      fc.property(plans, fc.array(move, { maxLength: 60, size: 'max' }), ({ size, fallback }, moves) => {
        walk(newTask(channels.slice(0, size), fallback && fallbackOf(...fallback)), moves, see);
      }),
      { numRuns: 3_000 },
    );
    expect([...seen.keys()].toSorted()).toEqual([
      'attempt abandoned', 'attempt accepted', 'attempt failed', 'attempt lost', 'attempt not_accepted',
      'attempt rejected', 'attempt sending', 'state asking', 'state broken', 'state creating', 'state ended', 'state ending',
      'state pausing', 'state queued', 'state review', 'state searching', 'state sending', 'state stopping', 'state waiting',
      'stray',
    ]); // prettier-ignore
  });

  it('ends: a task that no channel accepts is retried at growing intervals, and its record does not grow', () => {
    fc.assert(
      fc.property(plans, fc.array(fc.nat(63), { minLength: 20, maxLength: 200 }), ({ size }, flags) => {
        let task = newTask(channels.slice(0, size));
        let now = start;
        for (const flag of flags) {
          if (task.state.at === 'pausing') {
            expect(task.state.until).toBeGreaterThan(now);
            now = task.state.until;
            task = stepped(task, { kind: 'resumed', elapsedMs: task.state.ms }, now);
          }
          const channel = (isIdle(task.state) && task.state.left[0]?.channel) || '';
          const n = task.attempts.length + 1;
          task = stepped(task, events.sending(channel, 'run-1', n), now);
          const sent = attemptAt(task.state, task.attempts)?.n ?? 0;
          const word = {
            n: sent,
            owner: 'run-1',
            stays: flag % 3 === 0,
            ...(flag % 2 === 0 ? { retryAfterMs: 1000 * flag } : {}),
          };
          task = stepped(task, events.notAccepted(channel, word), now);
        }
        expect(task.attempts.length).toBeLessThanOrEqual(size);
        const { state } = task;
        if (isSubmitting(state) || state.at === 'pausing') {
          expect(Math.max(state.full.length, task.resting?.length ?? 0)).toBeLessThanOrEqual(size);
        }
      }),
    );
  });
});
