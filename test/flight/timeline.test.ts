import { describe, expect, it } from 'vitest';
import type { RecordedCall } from '../../src/flight/recorded-call.ts';
import type { FlightRecord } from '../../src/flight/flight-record.ts';
import { describeEvents, describeOutcome, formatEvents } from '../../src/flight/timeline.ts';

type Facts = Parameters<typeof describeEvents>[0];

const task: FlightRecord['task'] = {
  id: 'task_1',
  kind: 'video',
  model: 'm',
  status: 'succeeded',
  account: 'acct',
  key: 'key_1',
  channel: 'one',
  upstream_id: 'job-1',
  hold: '0.500000',
  charge: null,
  charge_estimated: false,
  needs_attention: null,
  created_at: 100,
  completed_at: null,
  deadline_at: 200,
  error: null,
  outcome: null,
};

function eventsOf(over: Partial<Facts>) {
  const facts = { plan: null, attempts: [], waits: [], calls: [], ledger: [], actions: [], callback: null };
  const rest = { format: 'mediary-task-record', version: 1, recorded_at: 300, request: null } as const;
  return describeEvents({ ...rest, ...facts, task, result_copy: null, mappings: {}, ...over });
}

const saidOf = (what: string, over: Partial<Facts>) =>
  eventsOf(over).flatMap((event) => (event.what === what ? [event.text] : []));

const call: RecordedCall = {
  step: 'status',
  at: 103,
  ms: 20,
  channel: 'one',
  credential: 'a',
  provider: 'some',
  model: 'm',
  base_url: 'https://upstream.example',
  exchanges: [{ method: 'GET', url: 'https://upstream.example/jobs/1', at: 103, ms: 20, status: 200 }],
  outcome: { kind: 'pending', phase: 'running', progress: 40 },
};

const attempt: FlightRecord['attempts'][number] = {
  n: 1,
  state: 'accepted',
  channel: 'one',
  credential: 'a',
  upstream_id: 'job-1',
  adopted: false,
  code: null,
  message: null,
  class: null,
  started_at: 101,
  ended_at: 102,
};

const entry: FlightRecord['ledger'][number] = {
  kind: 'hold',
  amount: '0.500000',
  excess: null,
  basis: null,
  note: null,
  at: 100,
};

describe('the order', () => {
  it('is chronological, and events at the same time follow the life of a task', () => {
    const events = eventsOf({
      plan: { candidates: [{ channel: 'one', credential: 'a' }], dropped: [] },
      attempts: [attempt],
      calls: [{ ...call, at: 101 }],
      ledger: [{ ...entry, kind: 'settle', at: 110 }, entry],
      callback: {
        state: 'delivered',
        target: 'https://me.example',
        attempts: [{ at: 112, ms: 9, status: 200, error: null }],
      },
      actions: [{ at: 105, by: 'ann', action: 'retry_now', reason: 'stuck', detail: 'Done.' }],
      task: { ...task, completed_at: 110 },
      result_copy: { state: 'copied', names: ['a.mp4'], tries: 1, error: null },
    });
    expect(events.map(({ at, what }) => [at, what])).toEqual([
      [100, 'admission'], [100, 'plan'], [100, 'ledger'], [101, 'attempt'], [101, 'exchange'],
      [102, 'attempt'], [105, 'operator'], [110, 'ledger'], [110, 'end'], [110, 'copy'], [112, 'callback'],
    ]); // prettier-ignore
  });
});

describe('in words', () => {
  it('the plan shows what was left out, and where a failed job may continue', () => {
    const one = { channel: 'one', credential: 'a' };
    const two = { channel: 'two', credential: 'b' };
    const dropped = [{ channel: 'three', reason: 'circuit_open', detail: 'four failures' }];
    const fallback = { candidates: [two], on: ['capacity' as const], neededSeconds: 60 };
    expect(saidOf('plan', { plan: { candidates: [one, two], dropped, fallback } })).toEqual([
      'one/a, two/b; if its job fails: two',
      'not three: circuit_open (four failures)',
    ]);
    expect(saidOf('plan', { plan: null })).toEqual([]);
  });

  it.each<[string, Partial<typeof attempt>, string[]]>([
    ['accepted', {}, ['1 begins at one/a', '1 accepted, job job-1']],
    ['open', { ended_at: null }, ['1 begins at one/a']],
    ['adopted', { adopted: true }, ['1 begins at one/a', '1 accepted by an operator, job job-1']],
    [
      'refused',
      { state: 'rejected', upstream_id: null, code: 'bad_prompt', message: 'No.' },
      ['1 begins at one/a', '1 rejected (bad_prompt: No.)'],
    ],
    [
      'lost',
      { state: 'ambiguous', upstream_id: null, code: 'timeout' },
      ['1 begins at one/a', '1 ambiguous (timeout)'],
    ],
  ])('an attempt that is %s', (_, over, said) => {
    expect(saidOf('attempt', { attempts: [{ ...attempt, ...over }] })).toEqual(said);
  });

  it.each<[string, Partial<RecordedCall>, string]>([
    ['answered', {}, 'status at one: GET /jobs/1 → 200: running, 40 % (20 ms)'],
    [
      'one of many alike',
      { skipped: 7 },
      'status at one: GET /jobs/1 → 200: running, 40 % (20 ms; 7 like the previous one are not shown)',
    ],
    [
      'without an answer',
      {
        exchanges: [
          { method: 'POST', url: '[key]', at: 1, ms: 1, failure: { outcome: 'ambiguous', code: 'timeout' } },
        ],
      },
      'status at one: POST [key] → timeout: running, 40 % (20 ms)',
    ],
    [
      'that never began',
      { exchanges: [{ method: 'POST', url: 'https://u.example/a', at: 1, ms: 1 }] },
      'status at one: POST /a → nothing: running, 40 % (20 ms)',
    ],
  ])('an exchange %s', (_, over, said) => {
    expect(saidOf('exchange', { calls: [{ ...call, ...over }] })).toEqual([said]);
  });

  it.each<[string, Partial<typeof entry>, string]>([
    ['a hold', {}, 'hold -0.500000'],
    ['a release', { kind: 'release', note: 'the job failed' }, 'release +0.500000 (the job failed)'],
    ['a charge beyond', { kind: 'settle', excess: '0.2' }, 'settle -0.500000 and 0.2 beyond the hold'],
    ['a settlement', { kind: 'settle' }, 'settle -0.500000'],
  ])('of the ledger: %s', (_, over, said) => {
    expect(saidOf('ledger', { ledger: [{ ...entry, ...over }] })).toEqual([said]);
  });

  it('a callback shows the response, or why there was none', () => {
    const base = { at: 101, ms: 9, status: null, error: null };
    const attempts = [{ ...base, status: 500 }, { ...base, error: 'timeout' }, base];
    expect(saidOf('callback', { callback: { state: 'pending', target: 'me.example', attempts } })).toEqual([
      'me.example responded with 500 in 9 ms',
      'me.example did not respond: timeout, after 9 ms',
      'me.example did not respond, after 9 ms',
    ]);
  });

  it('the end shows its error and its charge', () => {
    const ended = { ...task, completed_at: 110 };
    const error = { code: 'upstream_failed', message: 'No.', class: null };
    expect(saidOf('end', { task })).toEqual([]);
    expect(saidOf('end', { task: { ...ended, status: 'failed', error } })).toEqual([
      'failed: upstream_failed, no class',
    ]);
    expect(saidOf('end', { task: { ...ended, charge: '0.3', charge_estimated: true } })).toEqual([
      'succeeded, charge 0.3 (estimated)',
    ]);
  });

  it('a single item is in the singular', () => {
    const ended = { ...task, completed_at: 110 };
    const copy = { state: 'copied', names: ['a.mp4'], tries: 1, error: null };
    expect(saidOf('copy', { task: ended, result_copy: copy })).toEqual(['copied, 1 file after 1 try']);
    const failed = { state: 'failed', names: [], tries: 3, error: 'timeout' };
    expect(saidOf('copy', { task: ended, result_copy: failed })).toEqual([
      'failed, 0 files after 3 tries (timeout)',
    ]);
    expect(describeOutcome({ kind: 'succeeded', items: 1, facts: {} })).toBe('succeeded, 1 result, {}');
    expect(describeOutcome({ kind: 'succeeded', items: 2, facts: {} })).toBe('succeeded, 2 results, {}');
  });

  it('an outcome of every kind', () => {
    const failure = { code: 'c', class: 'capacity' } as const;
    expect([
      describeOutcome({ kind: 'accepted', operation: { id: 'j' } }),
      describeOutcome({ kind: 'pending', phase: 'submitted' }),
      describeOutcome({ kind: 'failed', unbilled: true, ...failure }),
      describeOutcome({ kind: 'error', outcome: 'throttled', gone: false, ...failure }),
      describeOutcome({ kind: 'found', operations: [{ id: 'j' }, { id: 'k' }] }),
      describeOutcome({ kind: 'found', operations: [] }),
      describeOutcome({ kind: 'crashed', message: 'TypeError' }),
      describeOutcome({ kind: 'cancelled' }),
      describeOutcome({ kind: 'refused' }),
    ]).toEqual([
      'accepted, job j', 'submitted', 'failed, c (capacity)', 'throttled, c (capacity)', 'found j, k',
      'found nothing', 'the adapter failed (TypeError)', 'cancelled', 'refused',
    ]); // prettier-ignore
  });
});

it('lines are aligned, and a clock that was behind is visible', () => {
  const events = [
    { at: 99.9, what: 'admission', text: 'a' },
    { at: 100, what: 'end', text: 'b' },
    { at: 219.4567, what: 'copy', text: 'c' },
    { at: 1001, what: 'copy', text: 'd' },
    { at: 100_000, what: 'copy', text: 'e' },
  ] as const;
  expect(formatEvents(100, events)).toEqual(
    [
      '1970-01-01T00:01:39.900Z      -0.100 s  admission  a',
      '1970-01-01T00:01:40.000Z      +0.000 s  end        b',
      '1970-01-01T00:03:39.456Z    +119.457 s  copy       c',
      '1970-01-01T00:16:41.000Z  +15 min 1 s  copy       d',
      '1970-01-02T03:46:40.000Z  +27 h 45 min  copy       e',
    ].map((line) => line.replace('  +15 min', '   +15 min')),
  );
  expect(formatEvents(100, [])).toEqual([]);
});

const wordsOf = (texts: readonly string[]) =>
  formatEvents(
    0,
    texts.map((text, at) => ({ at, what: 'exchange', text })),
  ).map((line) => line.replace(/^.* exchange +/, ''));

describe('a repetition', () => {
  it('is shown once with a count, even if its numbers differ', () => {
    const round = (n: number) => [`ask a (${n} ms)`, `a says 429`, `ask b (${n} ms)`, 'b says 503'];
    expect(wordsOf(['begin', ...round(1), ...round(22), ...round(3), 'end'])).toEqual([
      'begin',
      ...round(1),
      'the 4 lines above, 2 times more until now',
      'end',
    ]);
    expect(wordsOf(['a', 'a', 'a', 'b'])).toEqual(['a', 'the line above, 2 times more until now', 'b']);
    expect(wordsOf(['a', 'b', 'a', 'b'])).toEqual(['a', 'b', 'the 2 lines above, once more until now']);
  });

  it('stays as it is if folding would not be shorter, or if something else comes in between', () => {
    expect(wordsOf(['a', 'a', 'b'])).toEqual(['a', 'a', 'b']);
    expect(wordsOf(['a', 'b', 'a', 'c', 'a', 'd'])).toEqual(['a', 'b', 'a', 'c', 'a', 'd']);
  });
});

it('the outcome of an attempt removes none of its earlier lines', () => {
  const past = [
    { state: 'not_accepted', upstream_id: null, adopted: false, code: 'throttled', started_at: 101, ended_at: 102, times: 14, last_at: 140 },
    { state: 'lost', upstream_id: null, adopted: false, code: 'timeout', started_at: 150, ended_at: 151, times: 1, last_at: 151 },
    { state: 'accepted', upstream_id: 'job-0', adopted: true, code: null, started_at: 150, ended_at: 160, times: 1, last_at: 160 },
  ]; // prettier-ignore
  const now = { state: 'lost', code: 'adoption_undone', message: 'Taken back.', upstream_id: null };
  const attempts = [{ ...attempt, ...now, past, started_at: 150, ended_at: 170 }];
  expect(saidOf('attempt', { attempts })).toEqual([
    '1 begins at one/a',
    '1 not_accepted (throttled), 14 times until 1970-01-01T00:02:20.000Z',
    '1 begins at one/a again',
    '1 lost (timeout)',
    '1 accepted by an operator, job job-0',
    '1 lost (adoption_undone: Taken back.)',
  ]);
});
