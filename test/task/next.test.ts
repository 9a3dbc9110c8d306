import { describe, expect, it } from 'vitest';
import { attentionOf } from '../../src/task/attention.ts';
import { taskFailures } from '../../src/task/failures.ts';
import type { Task } from '../../src/task/record.ts';
import type { Question, StateName, Stop, TaskEvent } from '../../src/task/state.ts';
import {
  after,
  events,
  fallbackOf,
  hour,
  newTask,
  on,
  refusal,
  start,
  stepped,
} from '../support/task-model.ts';

const {
  accepted, completed, ended, failed, lost, notAccepted, rejected, reviewed, sending, succeeded, wanted,
} = events; // prettier-ignore

const sent = (task = newTask()): Task => after(task, sending('a'));
const waiting = (task = newTask()): Task => after(sent(task), accepted(1));
const lostTask = (task = newTask()): Task => after(sent(task), lost(1));
const decided = 'decided: This submission was already recorded with a different outcome.';
const endedWith = (stop: 'cancelled' | 'expired' | 'operator') => ({
  at: 'ending', ending: { kind: 'failed', error: taskFailures[stop] },
}); // prettier-ignore

describe('a creation', () => {
  it('is abandoned by the try that owns it, and by no other', () => {
    const task = after(newTask(), { kind: 'taken_over', tryId: 'try-2' }, { kind: 'held', hold: 7n });
    expect(task).toMatchObject({ state: { at: 'creating', tryId: 'try-2' }, hold: 7n });
    expect(refusal(task, { kind: 'abandoned', tryId: 'try-1' })).toMatch(/^decided: /);
    const gone = after(task, { kind: 'abandoned', tryId: 'try-2' });
    expect(gone.state).toEqual({ at: 'ended', abandoned: 'try-2' });
    for (const event of [sending('a'), { kind: 'taken_over', tryId: 'try-3' } as const]) {
      expect(refusal(gone, event)).toBe('abandoned: The creation was abandoned.');
    }
    expect(after(gone, { kind: 'abandoned', tryId: 'try-2' })).toBe(gone);
  });

  it.each<[string, TaskEvent]>([
    ['a submission', sending('a')],
    ['a cancellation', wanted('cancel')],
    ['an operator', { kind: 'acted' }],
  ])('is over with %s', (_, event) => {
    const begun = after(newTask(), event);
    expect(begun.state.at).not.toBe('creating');
    expect(refusal(begun, { kind: 'abandoned', tryId: 'try-1' })).toMatch(/^decided: /);
    expect(refusal(begun, { kind: 'taken_over', tryId: 'try-2' })).toBe('decided: The task has begun.');
    expect(refusal(begun, { kind: 'held', hold: 1n })).toBe('decided: The task has begun.');
  });
});

describe('a submission', () => {
  it('begins once: the same run may repeat that, another one may not', () => {
    const task = sent();
    expect(task.attempts).toMatchObject([{ n: 1, channel: 'a', state: 'sending', owner: 'run-1' }]);
    expect(after(task, sending('a'))).toBe(task);
    const cancelled = after(task, wanted('cancel'));
    expect(after(cancelled, sending('a'))).toBe(cancelled);
    expect(refusal(task, sending('a', 'run-2'))).toBe('decided: A submission is in flight.');
    expect(refusal(task, sending('b', 'run-2'))).toBe('decided: A submission is in flight.');
  });

  it('goes only to channels of the round', () => {
    expect(refusal(newTask(), sending('c'))).toBe('decided: c is not part of this round.');
  });

  it('never uses another attempt’s marker', () => {
    const task = after(lostTask(), { kind: 'resubmitted' });
    expect(refusal(task, sending('a', 'run-2', 1))).toMatch(
      /^decided: The marker mediary-1-1 belongs to another attempt/,
    );
    expect(after(task, sending('a', 'run-2', 2)).attempts).toMatchObject([{ state: 'abandoned' }, { n: 2 }]);
  });

  it('that is accepted makes the task wait, and a repeat changes nothing', () => {
    const task = waiting();
    expect(task).toMatchObject({ state: { at: 'waiting', n: 1 }, status: 'submitted', traceId: 'job-1' });
    expect(after(task, accepted(1))).toBe(task);
  });

  it('whose response contains the result ends with it, even if it was cancelled or lost meanwhile', () => {
    const outcome = { kind: 'succeeded', items: [], facts: { images: 1 } } as const;
    const made = { kind: 'accepted', n: 1, operation: { id: 'm-1' }, outcome } as const;
    const ending = { outcome, state: { at: 'ending', ending: { kind: 'succeeded' } } };
    const task = after(sent(), made);
    expect(task).toMatchObject({ ...ending, attempts: [{ state: 'accepted', operation: { id: 'm-1' } }] });
    expect(after(task, made)).toBe(task);
    for (const before of [after(sent(), wanted('cancel')), after(sent(), wanted('expire')), lostTask()]) {
      const late = after(before, made);
      expect(late).toMatchObject(ending);
    }
    const elsewhere = after(sent(), notAccepted('a', { n: 1, owner: 'run-1', stays: true }), made);
    expect(elsewhere).toMatchObject({ state: { at: 'queued' }, attempts: [{ stray: { id: 'm-1' } }] });
    expect(elsewhere.outcome).toBeUndefined();
  });

  it('has an owner, and only the owner may report that it was refused', () => {
    const task = sent();
    for (const word of [{ n: 1, owner: 'run-2' }, { n: 1 }, { n: 7, owner: 'run-1' }]) {
      expect(refusal(task, notAccepted('a', word))).toBe(decided);
    }
    expect(refusal(task, rejected(1, 'capacity', 'run-2'))).toBe(decided);
    expect(refusal(task, lost(1, 'run-2'))).toBe(decided);
    expect(after(task, lost(1)).state).toEqual({ at: 'searching', n: 1, code: 'timeout' });
  });

  it('in flight is not ended by a run that has begun nothing', () => {
    const word = { kind: 'rejected', code: 'media_gone', message: 'It is gone.' } as const;
    expect(refusal(sent(), word)).toMatch(/^not_now: /);
    expect(refusal(sent(), notAccepted('a'))).toMatch(/^not_now: /);
    expect(refusal(sent(), { kind: 'skipped', channels: ['a'] })).toMatch(/^not_now: /);
    expect(after(newTask(), word)).toMatchObject({
      state: { at: 'ending', ending: { kind: 'failed' } }, outcome: { message: 'media_gone: It is gone.' },
    }); // prettier-ignore
  });

  it('that is rejected fails the task with the upstream’s message', () => {
    const task = after(sent(), rejected(1));
    expect(task.state).toEqual({ at: 'ending', ending: { kind: 'failed' } });
    expect(task.outcome).toMatchObject({ kind: 'failed', code: 'bad', message: 'bad: No.' });
    expect(task.attempts).toMatchObject([{ state: 'rejected', failure: { class: 'invalid_input' } }]);
  });

  it('that stays on its channel keeps its number', () => {
    const stayed = after(sent(), notAccepted('a', { n: 1, owner: 'run-1', stays: true }));
    expect(stayed).toMatchObject({ state: { at: 'queued', left: [on('a'), on('b')] } });
    expect(after(stayed, sending('a', 'run-2', 2)).attempts).toMatchObject([
      { n: 1, owner: 'run-2', marker: 'mediary-1-1' },
    ]);
  });

  it('gets a new number if a job of the old one has appeared', () => {
    const refused = after(sent(), notAccepted('a', { n: 1, owner: 'run-1', stays: true }), accepted(1));
    expect(refused.attempts).toMatchObject([{ state: 'not_accepted', stray: { id: 'job-1' } }]);
    expect(after(refused, sending('a', 'run-2', 2)).attempts).toMatchObject([
      { n: 1 },
      { n: 2, state: 'sending' },
    ]);
  });
});

describe('a round', () => {
  const refuse = (task: Task, channel: string, retryAfterMs?: number, elapsedMs = 0): Task => {
    const n = task.attempts.find((one) => one.channel === channel)?.n ?? task.attempts.length + 1;
    const named = retryAfterMs === undefined ? {} : { retryAfterMs };
    const word = { n, owner: 'run-1', elapsedMs, ...named };
    return after(task, sending(channel, 'run-1', n), notAccepted(channel, word));
  };

  it('tries one channel after the other, then pauses, each time for longer', () => {
    let task = after(newTask(), { kind: 'begun' });
    for (const [round, pauseMs] of [
      5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000,
    ].entries()) {
      expect(task.state).toMatchObject({ at: 'queued', round: round + 1, left: [on('a'), on('b')] });
      task = refuse(refuse(task, 'a'), 'b');
      expect(task.state).toMatchObject({ at: 'pausing', ms: pauseMs, until: start + pauseMs });
      task = stepped(task, { kind: 'resumed' }, start + pauseMs);
    }
    expect(task.attempts).toHaveLength(2);
  });

  it('waits for the channel with the earliest time, and tries only that one', () => {
    const pause = refuse(refuse(newTask(), 'a', 600_000), 'b', undefined, 300_000);
    expect(pause.state).toMatchObject({ at: 'pausing', ms: 5_000 });
    const second = after(pause, { kind: 'resumed', elapsedMs: 5_000 });
    expect(second).toMatchObject({
      state: { at: 'queued', left: [on('b')] },
      resting: [{ ...on('a'), ms: 295_000 }],
    });
    expect(refusal(second, sending('a', 'run-1', 3))).toBe('decided: a is not part of this round.');
    const later = after(refuse(second, 'b', undefined, 290_000), { kind: 'resumed', elapsedMs: 5_000 });
    expect(later).toMatchObject({ state: { at: 'queued', left: [on('a'), on('b')] }, resting: [] });
  });

  it.each([-180_000, 180_000])('lasts just as long by a clock that is %d ms off', (off) => {
    const pause = refuse(refuse(newTask(), 'a', 600_000), 'b', 60_000);
    const resumed = stepped(pause, { kind: 'resumed', elapsedMs: 60_000 }, start + off);
    expect(resumed).toMatchObject({
      state: { at: 'queued', left: [on('b')] },
      resting: [{ ...on('a'), ms: 540_000 }],
    });
    const again = stepped(resumed, notAccepted('b', { retryAfterMs: 60_000 }), start + off);
    expect(again.state).toMatchObject({ at: 'pausing', ms: 60_000, until: start + off + 60_000 });
  });

  it('measures a channel’s wait from the start of its turn, and uses the last one while it stays', () => {
    const first = refuse(newTask(), 'a', 600_000);
    const stays = after(
      first,
      sending('b', 'run-1', 2),
      notAccepted('b', { n: 2, owner: 'run-1', stays: true, retryAfterMs: 30_000, elapsedMs: 100_000 }),
    );
    expect(stays.resting).toEqual([
      { ...on('a'), ms: 600_000 },
      { ...on('b'), ms: 130_000 },
    ]);
    expect(refuse(stays, 'b', 40_000, 130_000).resting).toEqual([
      { ...on('a'), ms: 470_000 },
      { ...on('b'), ms: 40_000 },
    ]);
  });

  it.each([
    ['by its timer', { elapsedMs: 300_000 }],
    ['by an operator', {}],
  ])(
    'if all channels have specified a time, tries the one whose time comes first, when resumed %s',
    (_, by) => {
      const pause = refuse(refuse(newTask(), 'a', 600_000), 'b', 300_000);
      expect(pause.state).toMatchObject({ at: 'pausing', ms: 300_000 });
      expect(after(pause, { kind: 'resumed', ...by }).state).toMatchObject({
        at: 'queued',
        left: [on('b')],
      });
    },
  );

  it('remembers a channel’s time even after a lost submission', () => {
    const second = refuse(newTask(), 'a', 600_000);
    const late = after(second, sending('b', 'run-1', 2), lost(2), notAccepted('b', { n: 2, owner: 'run-1' }));
    expect(late).toMatchObject({ state: { at: 'pausing' }, resting: [{ ...on('a'), ms: 600_000 }] });
    expect(after(late, { kind: 'resumed' }).state).toMatchObject({ left: [on('b')] });
  });

  it('forgets no time, and keeps one for each channel', () => {
    let task = newTask(['a']);
    for (let round = 1; round <= 5; round += 1) {
      task = refuse(task, 'a', round * hour);
      expect(task.resting).toEqual([{ ...on('a'), ms: round * hour }]);
      task = after(task, { kind: 'resumed' });
    }
  });

  it('records once which channels were full', () => {
    const full = notAccepted('a', { full: true });
    const task = after(newTask(), full);
    expect(task.state).toMatchObject({ left: [on('b')], full: [on('a')] });
    expect(refusal(task, full)).toMatch(/^decided: a is not part of this round/);
  });

  it('does not depend on the text of a code, which may be an upstream’s', () => {
    const full = notAccepted('a', { n: 1, owner: 'run-1', code: 'at_concurrency_limit' });
    expect(after(sent(), full).state).toMatchObject({ left: [on('b')], full: [] });
    const named: TaskEvent = { kind: 'lost', n: 1, owner: 'run-1', code: 'upstream_id_taken' };
    expect(attentionOf(after(sent(), named, { kind: 'asked' }))).toBe('submit_ambiguous');
  });

  it('continues without channels that are gone, and pauses if all are gone', () => {
    const task = after(newTask(), { kind: 'skipped', channels: ['a'] });
    expect(task.state).toMatchObject({ at: 'queued', left: [on('b')] });
    expect(after(task, { kind: 'skipped', channels: ['a'] })).toBe(task);
    expect(after(task, { kind: 'skipped', channels: ['b'] }).state.at).toBe('pausing');
    // No event leads to a round that has no channels. A record in that state must still be able to continue.
    const nobody = { ...task, state: { ...task.state, left: [] } as Task['state'] };
    expect(after(nobody, { kind: 'skipped', channels: [] }).state.at).toBe('pausing');
  });
});

describe('a lost submission', () => {
  it('is searched for, then an operator is asked, who may request another search', () => {
    const asking = after(lostTask(), { kind: 'asked' });
    expect(asking.state).toMatchObject({ at: 'asking' });
    expect(after(asking, { kind: 'asked' })).toBe(asking);
    expect(after(asking, { kind: 'resumed' }).state).toMatchObject({ at: 'searching' });
    expect(after(lostTask(), lost(1))).toEqual(lostTask());
    expect(after(asking, wanted('expire')).state).toMatchObject({ at: 'searching', stop: 'expire' });
  });

  it('is accepted after all', () => {
    const task = after(lostTask(), accepted(1));
    expect(task).toMatchObject({ state: { at: 'waiting', n: 1 }, attempts: [{ state: 'accepted' }] });
    expect(task.attempts[0]).not.toHaveProperty('code');
  });

  it('was refused after all, according to its sender, so the next channel is tried', () => {
    const task = after(lostTask(), notAccepted('a', { n: 1, owner: 'run-1' }));
    expect(task).toMatchObject({
      state: { at: 'queued', left: [on('b')] },
      attempts: [{ state: 'not_accepted' }],
    });
  });

  it('is neither replaced nor ended by a run that has sent nothing', () => {
    const word = { kind: 'rejected', code: 'media_gone', message: 'It is gone.' } as const;
    expect(refusal(lostTask(), notAccepted('a', { code: 'circuit_open' }))).toMatch(/^not_now: /);
    expect(refusal(lostTask(), notAccepted('b'))).toMatch(/^not_now: /);
    expect(refusal(lostTask(), word)).toMatch(/^not_now: /);
  });

  it('of a replacement, refused after all, leads to no channel that has failed or was tried', () => {
    const task = after(
      waiting(newTask(['a'], fallbackOf('a', 'b', 'c'))),
      failed(1, true),
      sending('b', 'run-2', 2),
      lost(2),
    );
    const refused = after(task, notAccepted('b', { n: 2, owner: 'run-2' }));
    expect(refused.state).toMatchObject({ at: 'queued', left: [on('c')], replaces: true });
  });

  it('that the task has continued without makes a late acceptance a stray', () => {
    const again = after(lostTask(), { kind: 'resubmitted' }, sending('a', 'run-2', 2));
    const late = after(again, accepted(1, 'late'));
    expect(late.state.at).toBe('sending');
    expect(late.attempts).toMatchObject([
      { state: 'abandoned', stray: { id: 'late' } },
      { state: 'sending' },
    ]);
    expect(after(late, accepted(1, 'late'))).toBe(late);
    expect(refusal(late, accepted(1, 'later'))).toBe(
      'decided: Attempt 1 already has a stray job (late), and later is a different one.',
    );
    expect(refusal(late, notAccepted('a', { n: 1, owner: 'run-1' }))).toBe(decided);
    expect(after(late, accepted(2))).toMatchObject({ state: { at: 'waiting', n: 2 } });
  });

  it('whose job is also reported for another attempt records it once', () => {
    const resubmitted = { kind: 'resubmitted' } as const;
    const task = after(
      lostTask(),
      resubmitted,
      sending('a', 'run-2', 2),
      accepted(1, 'late'),
      lost(2),
      resubmitted,
      sending('a', 'run-2', 3),
    );
    expect(task.attempts).toMatchObject([{ stray: { id: 'late' } }, { state: 'abandoned' }, { n: 3 }]);
    expect(after(task, accepted(2, 'late'))).toBe(task);
  });

  it('whose stray job is adopted has no stray any more', () => {
    const again = after(
      lostTask(),
      { kind: 'resubmitted' },
      sending('a', 'run-2', 2),
      accepted(1, 'late'),
      lost(2),
    );
    const task = after(again, { kind: 'adopted', operation: { id: 'late' } });
    expect(task.attempts[0]).not.toHaveProperty('stray');
    expect(task.attempts[1]).toMatchObject({ operation: { id: 'late' }, adopted: true });
  });

  it('is resubmitted only to a channel in the plan', () => {
    const task = lostTask();
    expect(after(task, { kind: 'resubmitted', channel: 'b' }).state).toMatchObject({
      at: 'queued',
      left: [on('b')],
    });
    expect(after(task, { kind: 'resubmitted' }).state).toMatchObject({ at: 'queued', left: [on('a')] });
    expect(refusal(task, { kind: 'resubmitted', channel: 'x' })).toBe(
      'not_now: The task’s plan has no channel `x`; it has a, b.',
    );
  });

  it('is not resubmitted once the deadline has passed, unless the deadline is moved', () => {
    const late = after(lostTask(), wanted('expire'));
    expect(refusal(late, { kind: 'resubmitted' })).toBe(
      'not_now: The task will no longer be submitted: its deadline has passed (`extend` moves it).',
    );
    const extended = stepped(late, { kind: 'extended', seconds: 3600 }, late.deadlineAt + 1);
    expect(extended.state).toEqual({ at: 'searching', n: 1, code: 'timeout' });
    expect(after(extended, { kind: 'resubmitted' }).state.at).toBe('queued');
    expect(stepped(late, { kind: 'extended', seconds: 60 }, late.deadlineAt + hour)).toMatchObject({
      state: { stop: 'expire' },
    });
  });
});

describe('an adoption', () => {
  const adopted = after(lostTask(), { kind: 'asked' }, { kind: 'adopted', operation: { id: 'named' } });

  it('gives the task its job, and can be undone', () => {
    expect(adopted).toMatchObject({
      state: { at: 'waiting', n: 1 },
      attempts: [{ operation: { id: 'named' } }],
    });
    const undone = after(adopted, { kind: 'undone' });
    expect(undone).toMatchObject({ state: { at: 'asking', n: 1 }, traceId: '' });
    expect(undone.attempts).toMatchObject([
      { state: 'lost', message: 'named was adopted, but the adoption was undone.' },
    ]);
    expect(undone.attempts[0]).not.toHaveProperty('operation');
  });

  it('is recorded with its outcome, without losing earlier ones', () => {
    const again = after(adopted, { kind: 'undone' }, { kind: 'adopted', operation: { id: 'other' } });
    expect(again.attempts[0]).toMatchObject({ state: 'accepted', operation: { id: 'other' } });
    expect(again.attempts[0]?.past).toEqual([
      { state: 'lost', startedAt: start, endedAt: start, code: 'timeout' },
      { state: 'accepted', startedAt: start, endedAt: start, upstreamId: 'named', adopted: true },
      { state: 'lost', startedAt: start, endedAt: start, code: 'adoption_undone' },
    ]);
    const abandoned = stepped(lostTask(), { kind: 'resubmitted' }, start + 5);
    expect(abandoned.attempts[0]).toMatchObject({ state: 'abandoned', endedAt: start + 5 });
    expect(abandoned.attempts[0]?.past).toMatchObject([{ state: 'lost', endedAt: start }]);
    expect(waiting().attempts[0]).not.toHaveProperty('past');
  });

  it('consecutive rounds with the same outcome are one entry of the past, however many there are', () => {
    const asked = (task: Task, at: number): Task => {
      const owner = `run-${at}`;
      const begun = stepped(task, events.sending('a', owner), at);
      const refused = events.notAccepted('a', { n: 1, owner, stays: true });
      return stepped(begun, refused, at + 1);
    };
    const task = [10, 20, 30, 40].reduce((before, at) => asked(before, start + at), newTask(['a']));
    expect(task.attempts).toHaveLength(1);
    expect(task.attempts[0]).toMatchObject({ startedAt: start + 40, endedAt: start + 41 });
    expect(task.attempts[0]?.past).toEqual([
      {
        state: 'not_accepted',
        startedAt: start + 10,
        endedAt: start + 11,
        code: 'throttled',
        times: 3,
        lastAt: start + 31,
      },
    ]);
  });

  it('excludes jobs that the upstream itself reported, which cannot be undone', () => {
    expect(refusal(waiting(), { kind: 'undone' })).toMatch(/^not_now: .*nothing to undo\.$/);
    expect(refusal(after(adopted, succeeded(1)), { kind: 'undone' })).toMatch(/^over: /);
  });

  it('that is undone also ends a cancellation, because a lost job cannot be cancelled', () => {
    const undone = after(adopted, wanted('cancel'), { kind: 'undone' });
    expect(undone.state).toEqual({ at: 'asking', n: 1, code: 'adoption_undone' });
    expect(refusal(undone, { kind: 'stopped' })).toMatch(/^not_now: /);
  });

  it('of another job invalidates a response about the first one', () => {
    const other = after(adopted, { kind: 'undone' }, { kind: 'adopted', operation: { id: 'other' } });
    const gone = 'decided: The task now has a different job.';
    expect(refusal(other, succeeded(1, { job: 'named' }))).toBe(gone);
    expect(refusal(other, { kind: 'broken', n: 1, job: 'named', code: 'not_found' })).toBe(gone);
    const cancelled = after(other, wanted('cancel'));
    expect(refusal(cancelled, { kind: 'stopped', n: 1, job: 'named' })).toBe(gone);
    expect(after(cancelled, { kind: 'unstoppable', n: 1, job: 'named' })).toBe(cancelled);
    expect(after(cancelled, { kind: 'unstoppable', n: 1, job: 'other' }).state).toEqual({
      at: 'waiting',
      n: 1,
    });
    expect(after(other, succeeded(1, { job: 'other' })).state.at).toBe('ending');
  });
});

describe('a job', () => {
  it('ends the task with the upstream’s outcome, and a success is final until the end is written', () => {
    const task = after(waiting(), failed(1));
    expect(task.state).toEqual({ at: 'ending', ending: { kind: 'failed' } });
    const corrected = after(task, succeeded(1));
    expect(corrected).toMatchObject({
      state: { ending: { kind: 'succeeded' } },
      outcome: { kind: 'succeeded' },
    });
    expect(refusal(corrected, failed(1))).toMatch(/^over: /);
    expect(refusal(after(task, ended('failed')), succeeded(1))).toMatch(/^over: /);
  });

  it('of another attempt has no effect', () => {
    expect(refusal(waiting(), succeeded(2))).toBe('decided: The task now has a different job.');
    expect(refusal(sent(), succeeded(1))).toMatch(/^not_now: /);
  });

  it('that failed without a bill is replaced if the plan has a fallback, once on each channel', () => {
    const replaced = after(waiting(newTask(['a'], fallbackOf('a', 'b', 'c'))), failed(1, true));
    expect(replaced).toMatchObject({
      state: { at: 'queued', left: [on('b'), on('c')], replaces: true }, attempts: [{ state: 'failed' }],
    }); // prettier-ignore
    const last = after(replaced, notAccepted('b'), notAccepted('c'));
    expect(last.state).toEqual({ at: 'ending', ending: { kind: 'failed' } });
    const second = after(replaced, sending('b', 'run-2', 2), accepted(2), succeeded(2));
    expect(second.state).toMatchObject({ ending: { kind: 'succeeded' } });
    expect(refusal(after(replaced, sending('b', 'run-2', 2), accepted(2)), succeeded(1))).toMatch(
      /^decided: /,
    );
  });

  it('that replaces another one does not change what callers have already seen', () => {
    const running: Task = { ...waiting(newTask(['a'], fallbackOf('b'))), status: 'running' };
    const second = after(running, failed(1, true), sending('b', 'run-2', 2), accepted(2));
    expect(second).toMatchObject({ state: { at: 'waiting', n: 2 }, status: 'running' });
  });

  it.each<[string, Task, TaskEvent]>([
    ['it may be billed', newTask(['a'], fallbackOf('b')), failed(1)],
    ['the plan has no fallback', newTask(['a']), failed(1, true)],
    ['the fallback is for other failures', newTask(['a'], fallbackOf('b')), failed(1, true, 'invalid_input')],
    [
      'there is no time left',
      { ...newTask(['a'], fallbackOf('b')), deadlineAt: start + 59_000 },
      failed(1, true),
    ],
  ])('is not replaced if %s', (_, task, event) => {
    expect(after(waiting(task), event).state).toEqual({ at: 'ending', ending: { kind: 'failed' } });
  });

  it('is not replaced if the task is about to end', () => {
    const task = after(waiting(newTask(['a'], fallbackOf('b'))), wanted('expire'), failed(1, true));
    expect(task.state.at).toBe('ending');
  });

  it('is not replaced on a channel whose specified time has not come', () => {
    const busy = notAccepted('b', { n: 1, owner: 'run-1', retryAfterMs: hour });
    const task = after(
      newTask(['b', 'a'], fallbackOf('b', 'c')),
      sending('b'),
      busy,
      sending('a', 'run-1', 2),
      accepted(2),
    );
    expect(after(task, failed(2, true)).state).toMatchObject({ at: 'queued', left: [on('c')] });
    const late = { ...failed(2, true), elapsedMs: hour };
    expect(after(task, late).state).toMatchObject({ at: 'queued', left: [on('b'), on('c')] });
  });

  it('that cannot be polled waits for an operator, who can have it polled again', () => {
    const broken = { kind: 'broken', n: 1, code: 'not_found' } as const;
    const task = after(waiting(), broken);
    expect(task.state).toEqual({ at: 'broken', n: 1, code: 'not_found' });
    expect(after(task, broken)).toBe(task);
    expect(after(task, { kind: 'resumed' }).state).toEqual({ at: 'waiting', n: 1 });
    expect(after(task, succeeded(1)).state.at).toBe('ending');
  });
});

describe('a cancellation', () => {
  it('immediately ends a task that has nothing at an upstream', () => {
    expect(after(newTask(), wanted('cancel')).state).toEqual(endedWith('cancelled'));
    expect(after(newTask(['a']), notAccepted('a'), wanted('cancel')).state).toEqual(endedWith('cancelled'));
    expect(refusal(after(newTask(), wanted('cancel')), sending('a'))).toMatch(/^over: /);
  });

  it('while the request is in flight waits for the run that gets the response', () => {
    const task = after(sent(), wanted('cancel'));
    expect(task).toMatchObject({ state: { at: 'sending', stop: 'cancel' } });
    expect(after(task, accepted(1))).toMatchObject({ state: { at: 'stopping', stop: 'cancel' } });
    const owner = { n: 1, owner: 'run-1' };
    for (const answer of [
      notAccepted('a', owner),
      notAccepted('a', { ...owner, stays: true }),
      rejected(1),
    ]) {
      expect(after(task, answer).state).toEqual(endedWith('cancelled'));
    }
  });

  it('does not outlive a lost response', () => {
    expect(after(sent(), wanted('cancel'), lost(1)).state).not.toHaveProperty('stop');
    expect(after(sent(), wanted('expire'), lost(1))).toMatchObject({ state: { stop: 'expire' } });
    expect(refusal(lostTask(), wanted('cancel'))).toBe(
      'not_now: `cancel` is not possible while the gateway is searching the upstream for the job.',
    );
  });

  it('succeeds or fails at the upstream', () => {
    const task = after(waiting(), wanted('cancel'));
    expect(after(task, wanted('cancel'))).toBe(task);
    const stopped = after(task, { kind: 'stopped' });
    expect(stopped.state).toEqual(endedWith('cancelled'));
    expect(refusal(stopped, succeeded(1))).toMatch(/^over: /);
    expect(after(task, { kind: 'unstoppable' }).state).toEqual({ at: 'waiting', n: 1 });
    expect(refusal(waiting(), { kind: 'stopped' })).toBe('not_now: Nobody has asked to stop the task.');
  });

  it('is treated as the end of the job if the poll sees it cancelled first', () => {
    const task = after(waiting(), wanted('cancel'), failed(1, false, 'cancelled'));
    expect(task).toMatchObject({ state: endedWith('cancelled'), outcome: { kind: 'failed' } });
    expect(after(waiting(), wanted('cancel'), failed(1)).state).toEqual({
      at: 'ending',
      ending: { kind: 'failed' },
    });
  });

  it('comes too late for a result', () => {
    const task = after(waiting(), wanted('cancel'), succeeded(1));
    expect(task).toMatchObject({ state: { ending: { kind: 'succeeded' } } });
    expect(refusal(task, { kind: 'stopped' })).toMatch(/^over: /);
  });
});

const inReview = (why: Question['why'] = 'above_hold'): Task =>
  after(waiting(), why === 'unreleased' ? failed(1) : succeeded(1), reviewed(why));

const states: Readonly<Record<string, Task>> = {
  'queued': newTask(),
  'sending': sent(),
  'pausing': after(newTask(['a']), notAccepted('a')),
  'searching': lostTask(),
  'asking': after(lostTask(), { kind: 'asked' }),
  'waiting': waiting(),
  'broken': after(waiting(), { kind: 'broken', n: 1, code: 'x' }),
  'review': inReview(),
  'unsettled': inReview('unsettled'),
  'unreleased': inReview('unreleased'),
  'ending': after(waiting(), succeeded(1)),
  'ended': after(waiting(), succeeded(1), ended('succeeded')),
}; // prettier-ignore

describe('the requested end of a task', () => {
  it.each<[string, Record<Stop, StateName | 'over' | 'not_now'>]>([
    ['queued', { cancel: 'ending', expire: 'ending', fail: 'ending' }],
    ['sending', { cancel: 'sending', expire: 'sending', fail: 'sending' }],
    ['pausing', { cancel: 'ending', expire: 'ending', fail: 'ending' }],
    ['searching', { cancel: 'not_now', expire: 'searching', fail: 'ending' }],
    ['asking', { cancel: 'not_now', expire: 'searching', fail: 'ending' }],
    ['waiting', { cancel: 'stopping', expire: 'stopping', fail: 'stopping' }],
    ['broken', { cancel: 'stopping', expire: 'stopping', fail: 'stopping' }],
    ['review', { cancel: 'not_now', expire: 'ending', fail: 'ending' }],
    ['unsettled', { cancel: 'not_now', expire: 'ending', fail: 'ending' }],
    ['unreleased', { cancel: 'not_now', expire: 'not_now', fail: 'ending' }],
    ['ending', { cancel: 'over', expire: 'over', fail: 'ending' }],
    ['ended', { cancel: 'over', expire: 'over', fail: 'over' }],
  ])('%s', (name, expected) => {
    const task = states[name] ?? newTask();
    const seen = (stop: Stop): string => {
      const refused = refusal(task, wanted(stop));
      if (refused !== undefined) return refused.split(':')[0] ?? '';
      return after(task, wanted(stop)).state.at;
    };
    expect({ cancel: seen('cancel'), expire: seen('expire'), fail: seen('fail') }).toEqual(expected);
  });

  it('does not come before the deadline', () => {
    const task = waiting();
    expect(refusal(task, wanted('expire'), task.deadlineAt - 1)).toBe(
      'not_now: The deadline has not passed.',
    );
    expect(stepped(task, wanted('expire'), task.deadlineAt).state).toMatchObject({ stop: 'expire' });
  });

  it('is replaced only by a stronger one', () => {
    const expiring = after(waiting(), wanted('cancel'), wanted('expire'));
    expect(expiring).toMatchObject({ state: { stop: 'expire' } });
    expect(refusal(expiring, wanted('cancel'))).toMatch(
      /^not_now: The task is about to end: its deadline has passed/,
    );
    const failing = after(expiring, wanted('fail'));
    expect(failing).toMatchObject({ state: { stop: 'fail' } });
    expect(after(failing, wanted('expire'))).toBe(failing);
    expect(after(failing, { kind: 'unstoppable' })).toBe(failing);
    expect(after(failing, { kind: 'stopped' }).state).toEqual(endedWith('operator'));
  });

  it('an operator ends a lost task at once, whatever was requested before', () => {
    const task = after(sent(), wanted('fail'), lost(1));
    expect(task).toMatchObject({ state: { at: 'searching', stop: 'fail' } });
    expect(after(task, wanted('fail'))).toMatchObject({
      state: endedWith('operator'),
      attempts: [{ state: 'abandoned' }],
    });
  });

  it('a lost task ends after one more search, and its job is a stray from then on', () => {
    const task = after(lostTask(), wanted('expire'), { kind: 'stopped' });
    expect(task).toMatchObject({ state: endedWith('expired'), attempts: [{ state: 'abandoned' }] });
    expect(after(task, accepted(1))).toMatchObject({
      state: endedWith('expired'),
      attempts: [{ stray: { id: 'job-1' } }],
    });
  });
});

describe('an operator', () => {
  it.each(['searching', 'waiting', 'broken', 'review'])('can complete a task: %s', (name) => {
    const task = after(states[name] ?? newTask(), completed);
    expect(task).toMatchObject({
      state: { at: 'ending', ending: { kind: 'succeeded', approved: true } },
      outcome: { items: [{ url: 'https://files.example/a.mp4' }] },
    });
    expect(refusal(task, succeeded(1))).toMatch(/^over: /);
    const had = name === 'searching' ? 'abandoned' : 'accepted';
    expect(task.attempts).toMatchObject([{ state: had }]);
    expect(after(task, accepted(1, 'late')).state).toBe(task.state);
  });

  it.each(['queued', 'sending', 'pausing', 'ending', 'ended'])('cannot complete a task: %s', (name) => {
    expect(refusal(states[name] ?? newTask(), completed)).toMatch(
      /^(?:not_now|over): `completed` is not possible while/,
    );
  });

  it('accepts a charge once, and is not asked about it again', () => {
    const task = after(inReview(), { kind: 'approved' });
    const ending = { kind: 'succeeded', approved: true, accepted: '9000000' };
    expect(task.state).toEqual({ at: 'ending', ending });
    for (const why of ['above_hold', 'contradictory'] as const)
      expect(refusal(task, reviewed(why))).toBe(
        'decided: An operator has already decided how the task ends.',
      );
    for (const why of ['unwritable', 'unsettled'] as const)
      expect(after(task, reviewed(why)).state).toMatchObject({ at: 'review', why });
  });

  it('cannot accept a charge that cannot be written, and must enter other facts or end the task', () => {
    expect(refusal(inReview('unwritable'), { kind: 'approved' })).toMatch(
      /^not_now: .*`complete`.*`fail`\.$/,
    );
    expect(after(inReview('unwritable'), completed).state.at).toBe('ending');
    expect(after(inReview('unwritable'), wanted('fail')).state).toEqual(endedWith('operator'));
  });

  it.each(['unsettled', 'unreleased'] as const)(
    'has no charge to accept, and can be settled once more: %s',
    (why) => {
      const task = inReview(why);
      expect(refusal(task, { kind: 'approved' })).toMatch(/^not_now: .*`retry_now`.*`fail`\.$/);
      const kind = why === 'unsettled' ? 'succeeded' : 'failed';
      expect(after(task, { kind: 'resumed' }).state).toEqual({ at: 'ending', ending: { kind } });
      expect(refusal(inReview(), { kind: 'resumed' })).toMatch(/^not_now: .*decision/);
    },
  );

  it('ends a task whose hold the ledger does not release, with its own error and without another question', () => {
    const error = { code: 'task_expired', message: 'Too late.' } as const;
    const asked = after(after(newTask(), wanted('expire')), { kind: 'reviewed', why: 'unreleased', error });
    const task = after(asked, wanted('fail'));
    expect(task.state).toEqual({ at: 'ending', ending: { kind: 'failed', error, approved: true } });
    expect(refusal(task, reviewed('unreleased'))).toMatch(/^decided: /);
    expect(after(asked, { kind: 'orphaned' }).state).toEqual(task.state);
  });

  it('fails a task whose end is not written yet, and a failing task keeps its error', () => {
    const task = after(states['ending'] ?? newTask(), wanted('fail'));
    expect(task.state).toEqual(endedWith('operator'));
    for (const why of ['above_hold', 'unsettled'] as const)
      expect(refusal(task, reviewed(why))).toMatch(/^over: /);
    const failing = after(waiting(), failed(1));
    expect(after(failing, wanted('fail'))).toBe(failing);
  });

  it('can give more time to every task that has not ended', () => {
    for (const [name, task] of Object.entries(states)) {
      const event = { kind: 'extended', seconds: 60 } as const;
      if (name === 'ending' || name === 'ended') expect(refusal(task, event)).toMatch(/^over: /);
      else expect(after(task, event).deadlineAt).toBe(task.deadlineAt + 60_000);
    }
  });

  it('can act without a change of state at any time', () => {
    for (const { state, ...task } of Object.values(states)) {
      const after = stepped({ ...task, state }, { kind: 'acted' }).state;
      expect(state.at === 'creating' ? after.at : after).toEqual(state.at === 'creating' ? 'queued' : state);
    }
  });
});

describe('the end', () => {
  it('is written once, and only if it was decided', () => {
    const task = after(waiting(), succeeded(1), ended('succeeded'));
    expect(task).toMatchObject({
      state: { at: 'ended' },
      status: 'succeeded',
      charge: 5n,
      completedAt: start,
    });
    expect(after(task, ended('failed'))).toBe(task);
    for (const name of ['queued', 'sending', 'pausing', 'searching', 'waiting', 'broken', 'review']) {
      expect(refusal(states[name] ?? newTask(), ended('failed'))).toMatch(/^not_now: /);
    }
  });

  it('is what the ledger contains, not what was decided', () => {
    expect(after(waiting(), failed(1), ended('succeeded'))).toMatchObject({
      status: 'succeeded',
      charge: 5n,
    });
  });

  it('of a task whose workflow is gone leaves nothing open', () => {
    for (const [name, task] of Object.entries(states)) {
      if (name === 'ended') expect(refusal(task, { kind: 'orphaned' })).toMatch(/^over: /);
      else if (name === 'ending') expect(after(task, { kind: 'orphaned' })).toBe(task);
      else {
        const orphan = after(task, { kind: 'orphaned' });
        expect(orphan.state).toEqual({
          at: 'ending',
          // It is too late to ask an operator now. If the task was already failing, it keeps the error that it had.
          ending: {
            kind: 'failed',
            approved: true,
            ...(name === 'unreleased' ? {} : { error: taskFailures.interrupted }),
          },
        });
        expect(orphan.attempts.filter(({ state }) => state === 'sending' || state === 'lost')).toEqual([]);
      }
    }
  });
});

it('observations about a state do not outlive it', () => {
  const noted: Task = { ...waiting(), concern: 'overdue' };
  expect(after(noted, { kind: 'extended', seconds: 60 })).toMatchObject({
    concern: 'overdue',
    stateSince: start,
  });
  const later = stepped(noted, succeeded(1), start + 7);
  expect(later).toMatchObject({ stateSince: start + 7, updatedAt: start + 7 });
  expect(later).not.toHaveProperty('concern');
  expect(later.wait).toEqual({ cause: 'settlement', since: start + 7 });
});
