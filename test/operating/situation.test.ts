import { expect, it } from 'vitest';
import { defined } from '../../src/base/defined.ts';
import { operatorActions } from '../../src/operating/acts.ts';
import { generalAdvice } from '../../src/operating/advice.ts';
import { attentionReasons, concerns } from '../../src/task/attention.ts';
import type { TaskState } from '../../src/task/state.ts';
import { situation, type Situation, type Standing } from '../../src/operating/situation.ts';

const standing = { deadlineAt: 0, stateSince: 0, hold: 3n, hasCallback: true };
const nothing = { charged: 0n, released: 0n, refunded: 0n, unpaidJobs: 0 };

it('of a task that has ended and was not delivered suggests another callback, or a refund', () => {
  const { name, attention, advice, actions } = situation({
    id: 'task_1',
    state: { at: 'ended' },
    ...standing,
    charge: 2n,
    concern: 'not_delivered',
  });
  expect([name, attention]).toEqual(['ended', 'not_delivered']);
  expect(advice).toContain('`refund`');
  expect(actions).toEqual([
    { name: 'redeliver', command: 'gateway tasks action task_1 redeliver --reason "…"', money: nothing },
    {
      name: 'refund',
      command: 'gateway tasks action task_1 refund --reason "…"',
      money: { ...nothing, refunded: 2n },
    },
  ]);
});

it('of a submission that returned another task’s job says so, and not that its response was lost', () => {
  const { what, attention, advice, actions } = situation({
    id: 'task_1',
    state: { at: 'asking', n: 1, code: 'upstream_id_taken', taken: true },
    ...standing,
  });
  expect(attention).toBe('upstream_id_taken');
  expect(what).toContain('returned the id of a job that belongs to another task');
  expect(advice).toContain('accepted the submission');
  expect(actions.map(({ name }) => name)).toEqual([
    'adopt', 'resubmit', 'complete', 'fail', 'retry_now', 'extend',
  ]); // prettier-ignore
});

it('of a lost submission suggests a search, if its upstream can be searched', () => {
  const of = (more: object) =>
    situation({ id: 'task_1', state: { at: 'asking', n: 1, code: 'lost' }, ...standing, ...more });
  const searchable = of({});
  expect(searchable.actions[0]?.name).toBe('retry_now');
  expect(searchable.advice).toContain('Use `retry_now`: it searches the upstream for the job’s marker');
  const unsearchable = of({ isUnsearchable: true });
  expect(unsearchable.actions.map(({ name }) => name)).not.toContain('retry_now');
  expect(unsearchable.advice).toContain('The upstream cannot be searched for the job.');
});

it.each<[string, TaskState, Partial<Standing>]>([
  ['asks what to do', { at: 'asking', n: 1, code: 'lost' }, {}],
  ['cannot be searched for', { at: 'asking', n: 1, code: 'lost' }, { isUnsearchable: true }],
  ['was given the id of another job', { at: 'asking', n: 1, code: 'upstream_id_taken', taken: true }, {}],
])(
  'of a lost submission that %s and whose request has been deleted offers no resubmission',
  (_, state, more) => {
    const of = (forgotten: Partial<Standing>) =>
      situation({ ...standing, id: 'task_1', state, ...more, ...forgotten });
    const names = ({ actions }: Situation) => actions.map(({ name }) => name);
    const [kept, forgotten] = [of({}), of({ isForgotten: true })];
    expect(kept.advice).toContain('`resubmit`');
    expect(names(kept)).toContain('resubmit');
    expect(forgotten.advice).not.toContain('`resubmit`');
    expect(forgotten.advice).toContain('The task cannot be resubmitted, because');
    expect(names(forgotten)).toEqual(names(kept).filter((name) => name !== 'resubmit'));
  },
);

it('of an ended task whose request has been deleted offers no redelivery, because its address is gone', () => {
  const of = (more: Partial<Standing>) =>
    situation({ ...standing, id: 'task_1', state: { at: 'ended' }, ...more }).actions.map(({ name }) => name);
  expect(of({})).toContain('redeliver');
  expect(of({ isForgotten: true })).not.toContain('redeliver');
});

const at = { channel: 'one', credential: 'a', marker: 'm' };
const left = [{ channel: 'one', credential: 'a' }];
const unfinished: readonly TaskState[] = [
  { at: 'queued', round: 1, full: [], left },
  { at: 'pausing', round: 1, full: [], ms: 1, until: 1 },
  { at: 'searching', n: 1, code: 'lost' },
  { at: 'asking', n: 1, code: 'lost' },
  { at: 'asking', n: 1, code: 'upstream_id_taken', taken: true },
  { at: 'waiting', n: 1 },
  { at: 'stopping', n: 1, stop: 'cancel' },
  { at: 'broken', n: 1, code: 'unknown_job' },
  { at: 'review', charge: '2', why: 'above_hold' },
  { at: 'review', why: 'unsettled' },
  { at: 'review', why: 'unreleased' },
  { at: 'ending', ending: { kind: 'succeeded' } },
];
const knowledge: readonly Partial<Standing>[] = [
  {},
  { isForgotten: true },
  { isUnsearchable: true },
  { isForgotten: true, isUnsearchable: true },
];

it.each([...unfinished, { at: 'ended' } as const])(
  'the advice about %j lists only acts that are possible',
  (state) => {
    for (const concern of [undefined, ...concerns])
      for (const known of [...knowledge, { charge: 2n }, { charge: 2n, isRefunded: true } as const]) {
        const { advice = '', actions } = situation({
          ...standing,
          ...known,
          ...defined({ concern }),
          id: 'task_1',
          state,
        });
        const named = operatorActions.filter((name) => advice.includes(`\`${name}\``));
        const possible = actions.map(({ name }) => name);
        expect(named.filter((name) => !possible.includes(name))).toEqual([]);
        expect(advice).not.toMatch(/undefined|\buse[.,]|\s{2}/);
      }
  },
);

it('the general advice lists every act that may help', () => {
  expect(generalAdvice('submit_ambiguous')).toContain(
    'then use `adopt` (with its upstream id), `resubmit`, `complete` or `fail`.',
  );
  for (const reason of attentionReasons) expect(generalAdvice(reason)).toMatch(/^[A-Z].*\.$/);
});

it.each([
  [
    'of a proposed charge below the hold',
    { charge: '2' },
    'accept_charge',
    { charged: 2n, released: 1n, refunded: 0n, unpaidJobs: 0 },
  ],
  [
    'of a proposed charge above the hold',
    { charge: '5' },
    'accept_charge',
    { charged: 5n, released: 0n, refunded: 0n, unpaidJobs: 0 },
  ],
  ['of a failure', { charge: '5' }, 'fail', { charged: 0n, released: 3n, refunded: 0n, unpaidJobs: 0 }],
  [
    'of facts that an operator enters',
    { charge: '5' },
    'complete',
    { charged: null, released: null, refunded: 0n, unpaidJobs: 0 },
  ],
] as const)('the preview of the money %s', (_, { charge }, name, money) => {
  const { actions, charge: proposed } = situation({
    id: 'task_1',
    state: { at: 'review', charge, why: 'above_hold' },
    ...standing,
  });
  expect(proposed).toBe(BigInt(charge));
  expect(actions.find((action) => action.name === name)?.money).toEqual(money);
});

it('counts the job that the upstream may bill and no charge covers', () => {
  const jobs = (state: TaskState, name: string): number | undefined =>
    situation({ id: 'task_1', state, ...standing, attempt: at }).actions.find((one) => one.name === name)
      ?.money.unpaidJobs;
  const asking = { at: 'asking', n: 1, code: 'lost' } as const;
  expect([jobs(asking, 'resubmit'), jobs(asking, 'fail'), jobs(asking, 'complete')]).toEqual([1, 1, 0]);
  expect([jobs({ at: 'waiting', n: 1 }, 'fail'), jobs({ at: 'waiting', n: 1 }, 'cancel')]).toEqual([1, 0]);
  expect(jobs({ at: 'review', charge: '9', why: 'above_hold' }, 'fail')).toBe(0);
});

it('suggests nothing if nothing can be done', () => {
  const names = (change: Partial<Parameters<typeof situation>[0]>): string[] =>
    situation({ id: 'task_1', state: { at: 'ended' }, ...standing, ...change }).actions.map(
      ({ name }) => name,
    );
  expect(names({ hasCallback: false, charge: 0n })).toEqual([]);
  expect(names({ hasCallback: false, charge: 1n })).toEqual(['refund']);
  expect(names({ hasCallback: false, charge: 1n, isRefunded: true })).toEqual([]);
  const waiting = { state: { at: 'waiting', n: 1 } } as const;
  expect(names({ ...waiting, attempt: at })).not.toContain('undo');
  expect(names({ ...waiting, attempt: { ...at, adopted: true } })).toContain('undo');
  expect(names({ state: { at: 'review', charge: '9', why: 'contradictory' } })).toContain('accept_charge');
  expect(names({ state: { at: 'review', charge: '9', why: 'unwritable' } })).not.toContain('accept_charge');
  expect(names({ state: { at: 'review', charge: '9', why: 'above_hold' } })).not.toContain('retry_now');
  for (const why of ['unsettled', 'unreleased'] as const) {
    expect(names({ state: { at: 'review', why } })).toEqual(['retry_now', 'complete', 'fail', 'extend']);
  }
  expect(names({ state: { at: 'ending', ending: { kind: 'succeeded' } } })).toEqual(['fail']);
});

it('promises no release of a hold that the ledger does not release', () => {
  const { what, charge, actions } = situation({
    id: 't',
    ...standing,
    state: { at: 'review', why: 'unreleased' },
  });
  expect([what, charge]).toEqual([expect.stringContaining('does not allow the release'), undefined]);
  expect(actions.find(({ name }) => name === 'fail')?.money).toEqual(nothing);
});

it('of a concern describes it, whatever the state; and that the task is to end', () => {
  const what = (more: object) =>
    situation({ id: 't', ...standing, state: { at: 'queued', left: [at], round: 1, full: [] }, ...more })
      .what;
  expect(what({ concern: 'poll_failing' })).toBe('Polls of the task’s job are failing.');
  expect(what({ concern: 'overdue', state: { at: 'stopping', n: 1, stop: 'cancel' } })).toBe(
    'The task’s job is taking five times as long as usual. Cancellation was requested.',
  );
  const decided = { state: { at: 'broken', n: 1, code: 'job_unknown' }, attempt: at, concern: 'overdue' };
  expect(what(decided)).toBe('Polling one has stopped (job_unknown).');
});

it('every unfinished task waits for something, since its state began', () => {
  const round = { round: 2, full: [] };
  const waitsFor = (state: TaskState, more: object = {}) => {
    const { waitsFor: wait, since } = situation({ id: 't', ...standing, state, stateSince: 7, ...more });
    expect(since).toBe(7);
    return wait;
  };
  const submitting = { at: 'queued', left: [at], ...round } as const;
  expect(waitsFor(submitting)).toBe('worker');
  expect(waitsFor(submitting, { wait: { cause: 'slot', since: 7 } })).toBe('slot');
  expect(waitsFor(submitting, { wait: { cause: 'slot', since: 7 }, concern: 'channel_gone' })).toBe(
    'channel_gone',
  );
  expect(waitsFor({ at: 'pausing', ms: 5, until: 9, ...round })).toBe('upstream');
  expect(waitsFor({ at: 'searching', n: 1, code: 'x' })).toBe('lookup');
  expect(waitsFor({ at: 'asking', n: 1, code: 'x' })).toBe('submit_ambiguous');
  expect(waitsFor({ at: 'waiting', n: 1 })).toBe('job');
  expect(waitsFor({ at: 'broken', n: 1, code: 'x' })).toBe('poll_failed');
  expect(waitsFor({ at: 'review', charge: '1', why: 'above_hold' })).toBe('charge_review');
  expect(waitsFor({ at: 'ending', ending: { kind: 'failed' } })).toBe('settlement');
  expect(waitsFor({ at: 'ended' })).toBeUndefined();
});
