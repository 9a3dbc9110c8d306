import { z } from 'zod';
import { billResults, compareAmounts, type Billed, type BillResult } from '../money/bill.ts';
import { addAmounts } from '../money/decimal.ts';
import type { Candidate, Proposal } from '../money/bill-candidates.ts';

export const billedSchema = z.object({
  job: z.string(),
  unit: z.string(),
  amount: z.string(),
  lines: z.int(),
  at: z.int(),
  spanMs: z.int(),
  model: z.string().optional(),
}) satisfies z.ZodType<Billed>;

export const ownAttemptSchema = z.object({
  task: z.string(),
  attempt: z.int(),
  account: z.string(),
  model: z.string(),
  output: z.string(),
  status: z.string(),
  channel: z.string(),
  state: z.string(),
  upstream_model: z.string().nullable(),
  job: z.string().nullable(),
  stray_job: z.string().nullable(),
  adoptable: z.boolean(),
  started_at: z.int(),
  ended_at: z.int().nullable(),
  expected: z.array(z.object({ by: z.enum(['upstream', 'rules']), amount: z.string(), unit: z.string() })),
});

export type OwnAttempt = z.output<typeof ownAttemptSchema>;

/**
 * A row covers one job in one unit, or one day and model if the bill lists no jobs. Amounts are exact decimals. `at` is
 * the bill's time in Unix seconds.
 */
export interface ReportRow {
  readonly result: BillResult;
  readonly job: string | null;
  readonly channel: string | null;
  readonly task: string | null;
  readonly attempt: number | null;
  readonly account: string | null;
  readonly model: string | null;
  readonly at: number | null;
  readonly unit: string | null;
  readonly billed: string | null;
  readonly expected: string | null;
  readonly difference: string | null;
  readonly lines: number;
  readonly tasks: number | null;
  readonly cost_unknown: number | null;
  readonly candidates: readonly Candidate[];
  readonly has_more_candidates: boolean;
}

const blank = {
  job: null,
  channel: null,
  task: null,
  attempt: null,
  account: null,
  model: null,
  at: null,
  unit: null,
  billed: null,
  expected: null,
  difference: null,
  lines: 0,
  tasks: null,
  cost_unknown: null,
  candidates: [],
  has_more_candidates: false,
};

export type RowFields = Pick<ReportRow, 'result'> & Partial<ReportRow>;

export function rowOf(fields: RowFields): ReportRow {
  return { ...blank, ...fields };
}

export const isInOrder = (result: BillResult): boolean => result === billResults[0];

export function bothRow(billed: Billed, own: OwnAttempt): ReportRow {
  return rowOf({ ...ownFields(own), ...billedFields(billed), ...compareAmounts(billed, own.expected) });
}

export function upstreamOnlyRow(billed: Billed, { candidates, hasMore }: Proposal): ReportRow {
  const { model = null } = billed;
  return rowOf({
    ...billedFields(billed),
    model,
    result: 'upstream_only',
    candidates,
    has_more_candidates: hasMore,
  });
}

export function oursOnlyRow(own: OwnAttempt): ReportRow {
  const [due] = own.expected;
  const amount = due === undefined ? {} : { unit: due.unit, expected: addAmounts('0', due.amount) };
  return rowOf({ ...ownFields(own), ...amount, job: own.job, result: 'ours_only' });
}

function ownFields({ channel, task, attempt, account, model }: OwnAttempt) {
  return { channel, task, attempt, account, model };
}

function billedFields({ job, at, unit, amount, lines }: Billed) {
  return { job: job === '' ? null : job, at: Math.floor(at / 1000), unit, billed: amount, lines };
}
