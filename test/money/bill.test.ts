import { describe, expect, it } from 'vitest';
import { compareAmounts, sumBilled, widened, type Billed, type Expected } from '../../src/money/bill.ts';
import { createProposals, type Unclaimed } from '../../src/money/bill-candidates.ts';

const usd = (amount: string, by: Expected['by'] = 'upstream'): Expected => ({ by, amount, unit: 'USD' });

describe('amounts', () => {
  it.each([
    ['0.35', [usd('0.350')], { result: 'matched', expected: '0.35', difference: '0' }],
    ['0.36', [usd('0.35')], { result: 'amount_differs', expected: '0.35', difference: '0.01' }],
    ['0.35', [usd('1')], { result: 'amount_differs', expected: '1', difference: '-0.65' }],
    ['0.3333335', [usd('0.333334', 'rules')], { result: 'matched', expected: '0.333334', difference: '0' }],
    [
      '0.3333335',
      [usd('0.333334')],
      { result: 'amount_differs', expected: '0.333334', difference: '-0.0000005' },
    ],
    ['0.5', [usd('0.4', 'rules'), usd('0.5')], { result: 'matched', expected: '0.5', difference: '0' }],
    ['0.5', [], { result: 'amount_unknown' }],
    ['0.5', [{ by: 'upstream', amount: '0.5', unit: 'credits' }], { result: 'amount_unknown' }],
  ] as const)('%s against %j', (amount, expected, compared) => {
    expect(compareAmounts({ amount, unit: 'USD' }, expected)).toEqual(compared);
  });

  it('lines of one job are combined, in any order', () => {
    const line = (at: number, amount: string, model?: string): Billed => {
      return {
        job: 'j',
        unit: 'USD',
        amount,
        lines: 1,
        at,
        spanMs: 0,
        ...(model === undefined ? {} : { model }),
      };
    };
    const [one, two] = [line(5, '0.1'), line(9, '0.2', 'm')];
    const sum = { job: 'j', unit: 'USD', amount: '0.3', lines: 2, at: 5, spanMs: 0, model: 'm' };
    expect(sumBilled(one, two)).toEqual(sum);
    expect(sumBilled(two, one)).toEqual(sum);
  });

  it('a range spans the smallest and the largest', () => {
    const range = ['0.4', '0.15', '2'].reduce(widened, undefined as ReturnType<typeof widened> | undefined);
    expect(range).toEqual({ min: '0.15', max: '2' });
  });
});

describe('a job that no task has is proposed to', () => {
  const noon = Date.parse('2026-10-05T12:00:00Z');
  const billed: Billed = {
    job: 'job-1',
    unit: 'USD',
    amount: '0.35',
    lines: 1,
    at: noon,
    spanMs: 0,
    model: 'vendor/clip',
  };
  const attempt = (task: string, change: Partial<Unclaimed> = {}): Unclaimed => ({
    task,
    attempt: 1,
    channel: 'main',
    account: 'acme',
    model: 'clip',
    output: '720p/5',
    upstreamModel: 'vendor/clip',
    state: 'lost',
    adoptable: true,
    startedAt: noon - 60_000,
    ...change,
  });
  const unpriced = () => undefined;
  const tasksOf = (
    attempts: readonly Unclaimed[],
    known = unpriced as Parameters<typeof createProposals>[1],
  ) => createProposals(attempts, known)(billed).candidates.map(({ task }) => task);

  it('the attempts nearest in time, at most three, each with its evidence', () => {
    const attempts = [5, 3, 2, 4].map((n) => attempt(`t${n}`, { startedAt: noon - n * 60_000 }));
    expect(tasksOf(attempts)).toEqual(['t2', 't3', 't4']);
    const hasMore = [4, 3].map((n) => createProposals(attempts.slice(0, n), unpriced)(billed).hasMore);
    expect(hasMore).toEqual([true, false]);
    expect(createProposals([attempt('t1')], unpriced)(billed).candidates).toEqual([
      {
        task: 't1',
        attempt: 1,
        channel: 'main',
        account: 'acme',
        model: 'clip',
        state: 'lost',
        adoptable: true,
        why: ['The attempt began 60 s before the time in the bill.', 'The model is the same: vendor/clip.'],
      },
    ]);
  });

  it('no attempt of another model or time', () => {
    const hour = 3_600_000;
    expect(
      tasksOf([
        attempt('other', { upstreamModel: 'vendor/other' }),
        attempt('long-before', { startedAt: noon - 25 * hour }),
        attempt('after', { startedAt: noon + hour }),
      ]),
    ).toEqual([]);
    expect(tasksOf([attempt('unknown', { upstreamModel: undefined })])).toEqual(['unknown']);
    const day = { ...billed, at: noon - 12 * hour, spanMs: 24 * hour };
    expect(
      createProposals([attempt('that-day', { startedAt: noon + 11 * hour })], unpriced)(day).candidates,
    ).toHaveLength(1);
  });

  it('attempts for which the bill charges the same come first, and those with a different charge are left out', () => {
    const ranges = new Map([
      ['720p/5', { min: '0.3', max: '0.4' }],
      ['1080p/5', { min: '1', max: '1' }],
    ]);
    const attempts = [
      attempt('unknown', { output: '480p/5', startedAt: noon }),
      attempt('dear', { output: '1080p/5', startedAt: noon }),
      attempt('fits'),
    ];
    expect(tasksOf(attempts, ({ output }) => ranges.get(output))).toEqual(['fits', 'unknown']);
  });

  it('the attempt whose job was found later, whatever else matches', () => {
    const stray = attempt('late', { strayJob: 'job-1', startedAt: 0, upstreamModel: 'vendor/other' });
    expect(tasksOf([attempt('near'), stray])).toEqual(['late']);
    expect(createProposals([attempt('near')], unpriced)({ ...billed, job: '' }).candidates).toEqual([]);
  });
});
