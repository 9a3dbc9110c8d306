import { describe, expect, it } from 'vitest';
import { nextStep, serviceOf } from '../../src/task/service.ts';
import { situation } from '../../src/operating/situation.ts';
import type { TaskState } from '../../src/task/state.ts';

const worker = (...channels: string[]) => ({ kind: 'worker', state: 'running', channels }) as const;
const gone = (...channels: string[]) => ({ kind: 'worker', state: 'gone', channels }) as const;
const api = { kind: 'api', state: 'running' } as const;
const last = new Map([
  ['one', 7],
  ['two', 9],
]);

describe('the workers of a channel', () => {
  it('are those that run', () => {
    const { isServed, unserved } = serviceOf([api, worker('one'), gone('two')], last);
    expect(['one', 'two', 'three'].map(isServed)).toEqual([true, false, false]);
    expect(['one', 'two', 'three', undefined].map(unserved)).toEqual([
      undefined,
      { channel: 'two', since: 9 },
      { channel: 'three' },
      undefined,
    ]);
  });

  it('are none if no worker runs, but tasks are still planned', () => {
    const { isServed, unserved } = serviceOf([api, gone('one')], last);
    expect(isServed('one')).toBe(true);
    expect(['one', 'three', undefined].map(unserved)).toEqual([{ since: 7 }, { since: 9 }, { since: 9 }]);
    expect(serviceOf([api], new Map()).unserved('one')).toEqual({});
  });
});

const at = (channel: string) => ({ channel, credential: 'a' });
const round = { round: 1, full: [] };
const submitting: TaskState = { at: 'queued', left: [at('one'), at('two')], ...round };
const sending = { ...submitting, at: 'sending', n: 1 } as const;
const attempt = { ...at('two'), n: 1, marker: 'm', owner: 'o', startedAt: 1 } as const;

it.each<[string, Parameters<typeof nextStep>[0], ReturnType<typeof nextStep>]>([
  ['of a submission is at its channel', { state: submitting, attempts: [] }, { channel: 'one' }],
  [
    'of one in flight is where it went',
    { state: sending, attempts: [{ ...attempt, state: 'sending' }] },
    { channel: 'two' },
  ],
  [
    'of a job is where the job is',
    { state: { at: 'waiting', n: 1 }, attempts: [{ ...attempt, state: 'accepted', operation: { id: 'j' } }] },
    { channel: 'two' },
  ],
  ['of what is to end is any worker’s', { state: { ...sending, stop: 'fail' }, attempts: [] }, {}],
  ['of a pause is any worker’s', { state: { at: 'pausing', ms: 5, until: 9, ...round }, attempts: [] }, {}],
  ['of what has ended is nobody’s', { state: { at: 'ended' }, attempts: [] }, undefined],
])('the next step %s', (_, task, step) => {
  expect(nextStep(task)).toEqual(step);
});

describe('the situation of a task whose channel has no worker', () => {
  const standing = {
    id: 't',
    state: submitting,
    stateSince: 5,
    deadlineAt: 20,
    hold: 3n,
    hasCallback: false,
  };

  it('shows that, since when, and what to do', () => {
    const found = situation({ ...standing, unserved: { channel: 'one', since: 7 } });
    expect(found).toMatchObject({ waitsFor: 'no_worker', since: 7 });
    expect(found.attention).toBeUndefined();
    expect(found.what).toMatch(/^No running worker serves one\. The task is being submitted/);
    expect(found.advice).toContain('`gateway nodes`');
    expect(found.actions.map(({ name }) => name)).toEqual(['extend', 'fail', 'retry_now', 'cancel']);
  });

  it('begins no earlier than the task became due there', () => {
    expect(situation({ ...standing, unserved: { channel: 'one', since: 2 } }).since).toBe(5);
    expect(situation({ ...standing, unserved: {} })).toMatchObject({
      since: 5,
      what: expect.stringMatching(/^No worker is running\. The task is being submitted/),
    });
  });

  it('asks for an operator if it lasts, and keeps any other concern', () => {
    const unserved = { channel: 'one', since: 7 };
    expect(situation({ ...standing, unserved, concern: 'no_worker' })).toMatchObject({
      attention: 'no_worker',
      waitsFor: 'no_worker',
      since: 7,
    });
    expect(situation({ ...standing, unserved, concern: 'overdue' })).toMatchObject({
      waitsFor: 'overdue',
      since: 5,
    });
  });
});
