import { expect, it } from 'vitest';
import { attentionMessages } from '../../src/task/attention.ts';
import { situation } from '../../src/operating/situation.ts';
import {
  aheadMax,
  waitsAfter,
  briefMs,
  openWaitWords,
  pastWaitsMax,
  waitCauses,
  waitMessages,
  waitWords,
} from '../../src/task/wait.ts';
import type { NewWait, Waits } from '../../src/task/wait.ts';

const createdAt = 1_000_000;

function after(causes: readonly NewWait['cause'][], everyMs: number): Waits {
  return causes.reduce<Waits>(
    (waits, cause, n) => ({
      ...waits,
      ...waitsAfter(waits, { cause, channel: 'one' }, { at: createdAt + n * everyMs, createdAt }),
    }),
    {},
  );
}

it('a wait that ends is kept, with its cause', () => {
  const { wait, waited } = after(['slot', 'rate'], 5_000);
  expect(waited).toEqual([{ cause: 'slot', channel: 'one', since: createdAt, ended: createdAt + 5_000 }]);
  expect(wait).toEqual({ cause: 'rate', channel: 'one', since: createdAt + 5_000 });
});

it('a wait that continues has the current number of tasks ahead', () => {
  const at = createdAt + 30_000;
  const waits: Waits = { wait: { cause: 'slot', ahead: 7, since: createdAt } };
  const next = { cause: 'slot', ahead: 3 } as const;
  expect(waitsAfter(waits, next, { at, createdAt })).toEqual({ wait: { ...next, since: createdAt } });
  expect(waitsAfter({ wait: { ...next, since: createdAt } }, next, { at, createdAt })).toEqual({});
});

it('equal waits with a short step between them are one entry with a count', () => {
  const waits = { wait: { cause: 'upstream', since: createdAt } } as const;
  const steps = [
    ['submission', 60_000],
    ['upstream', 60_300],
    ['submission', 90_000],
    ['upstream', 90_300],
    ['job', 120_000],
  ] as const;
  const { waited } = steps.reduce<Waits>(
    (before, [cause, ms]) => ({
      ...before,
      ...waitsAfter(before, { cause }, { at: createdAt + ms, createdAt }),
    }),
    waits,
  );
  expect(waited).toEqual([{ cause: 'upstream', since: createdAt, ended: createdAt + 120_000, times: 3 }]);
});

it('short consecutive waits are kept once they are long enough together', () => {
  const { waited = [] } = after(['worker', 'submission', 'job', 'settlement', 'worker'], briefMs - 500);
  const ends = [createdAt, ...waited.map(({ ended }) => ended)];
  expect(waited.map(({ since }, n) => since - (ends[n] ?? 0)).every((ms) => ms <= briefMs)).toBe(true);
  expect(waited.length).toBeGreaterThan(0);
});

it('the oldest of many are merged, and no time is lost', () => {
  const causes = Array.from({ length: 3 * pastWaitsMax }, (_, n) => (n % 2 === 0 ? 'slot' : 'rate'));
  const { waited = [] } = after(causes, 10_000);
  expect(waited).toHaveLength(pastWaitsMax);
  expect(waited[0]).toMatchObject({ cause: 'earlier', since: createdAt, times: 2 * pastWaitsMax });
  expect(waited.at(-1)?.ended).toBe(createdAt + (causes.length - 1) * 10_000);
});

it('a clock that is behind creates no entry that ends before it begins', () => {
  const waits: Waits = { wait: { cause: 'slot', since: createdAt + 9_000 } };
  const { wait, waited } = waitsAfter(waits, { cause: 'job' }, { at: createdAt, createdAt });
  expect(waited).toEqual([{ cause: 'slot', since: createdAt + 9_000, ended: createdAt + 9_000 }]);
  expect(wait?.since).toBe(createdAt + 9_000);
});

it.each(waitCauses)('%s has the same wording for all readers', (cause) => {
  const wait = {
    cause,
    since: 0,
    until: 60_000,
    ahead: 1,
    channel: 'one',
    credential: 'key',
    code: 'http_503',
  };
  const words = waitWords(wait);
  expect(words).toBe(`${{ ...attentionMessages, ...waitMessages }[cause]} One task was ahead of it.`);
  expect(openWaitWords(wait)).toBe(
    `${words} Since 1970-01-01T00:00:00Z. The next attempt begins after 1970-01-01T00:01:00Z.`,
  );
  expect(openWaitWords(wait)).not.toMatch(/one\/key|http_503/);
});

it.each([
  [aheadMax - 1, ` ${aheadMax - 1} tasks were ahead of it.`],
  [aheadMax, ` At least ${aheadMax} tasks were ahead of it.`],
])('%i tasks ahead, which are counted up to a limit', (ahead, words) => {
  expect(waitWords({ cause: 'slot', since: 0, ahead })).toBe(`${waitMessages.slot}${words}`);
});

it('operators read the channel and the code before the same words', () => {
  const wait = {
    cause: 'circuit',
    since: 0,
    channel: 'one',
    credential: 'key',
    code: 'failure: http_503',
  } as const;
  const { what, waitsFor, since } = situation({
    id: 'task_1',
    state: { at: 'queued', round: 1, left: [{ channel: 'one', credential: 'key' }], full: [] },
    deadlineAt: 0,
    stateSince: 5,
    hold: 1n,
    hasCallback: false,
    wait,
  });
  expect(what).toContain(`one/key (failure: http_503): ${openWaitWords(wait)}`);
  expect([waitsFor, since]).toEqual(['circuit', 0]);
});
