import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { BillError } from '../../bills/bill-error.ts';
import { compareBill as compare } from '../../bills/compare-bill.ts';
import { isInOrder, type ReportRow } from '../../bills/rows.ts';
import { GatewayError, invalidParameter } from '../../errors/errors.ts';
import { billResults } from '../../money/bill.ts';
import type { BillFormat } from '../../providers/provider.ts';
import { findChannel } from '../admin-input.ts';
import { ownAttempts, type BillingDeps } from '../billing.ts';
import { jsonBody } from '../body.ts';
import type { RouteDeps } from '../deps.ts';
import { unixSeconds } from '../presenters/unix-seconds.ts';
import { beginReport } from '../report-reply.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const rowsMax = 1_000;
/** Two months. */
const daysMax = 62;
const column = z.string().trim().min(1).max(200).optional();
const time = z.int().min(0).max(253_402_300_799).optional();

const body = z.object({
  channel: z.string().min(1),
  bill: z.string().max(1_000_000).meta({
    description:
      'The bill as CSV, with a header in its first line. `gateway reconcile` compares larger files.',
  }),
  columns: z
    .object({ job: column, amount: column, time: column, model: column, unit: column })
    .default({})
    .meta({
      description:
        'The column names. Absent names default to the bill format of the channel’s vendor, if that format is known. If there is no `job` column, totals per day and model are compared. If there is one, the bill needs no model column.',
    }),
  unit: z.string().trim().min(1).max(40).optional().meta({
    description: 'The unit of the amounts, such as `USD`, if no column contains it.',
  }),
  from: time.meta({ description: 'Unix seconds, inclusive. Defaults to the first day (UTC) of the bill.' }),
  before: time.meta({
    description: 'Unix seconds, exclusive. Defaults to the end of the bill’s last day (UTC).',
  }),
});

const text = z.string().nullable();

export const comparedBillSchema = z
  .object({
    object: z.literal('bill.comparison'),
    by: z.enum(['job', 'day']),
    from: unixSeconds(),
    before: unixSeconds(),
    in_order: z.boolean().meta({ description: 'Whether every row matches.' }),
    notes: z.array(z.string()).meta({ description: 'What was not compared, in sentences.' }),
    totals: z.array(
      z.object({
        result: z.enum(billResults),
        unit: text,
        rows: z.int(),
        billed: z.string(),
        expected: z.string(),
      }),
    ),
    rows: z
      .array(
        z.object({
          result: z.enum(billResults),
          job: text.meta({ description: 'The upstream’s id.' }),
          task: text,
          attempt: z.int().nullable(),
          account: text,
          model: text,
          at: unixSeconds('The time in the bill.').nullable(),
          unit: text,
          billed: text,
          expected: text,
          difference: text.meta({ description: 'The billed amount minus the expected amount.' }),
          tasks: z
            .int()
            .nullable()
            .meta({ description: 'The number of recorded tasks on that day. Set only for daily bills.' }),
          candidates: z
            .array(
              z.object({
                task: z.string(),
                attempt: z.int(),
                state: z.string(),
                adoptable: z.boolean().meta({
                  description: 'Whether `adopt` can assign the job to this attempt.',
                }),
                why: z.array(z.string()),
              }),
            )
            .meta({
              description: 'The attempts that may have created the job, if it belongs to no task.',
            }),
          has_more_candidates: z.boolean().meta({
            description: 'Whether attempts other than `candidates` may have created the job.',
          }),
        }),
      )
      .meta({ description: `Rows that do not match, at most ${rowsMax}.` }),
    has_more: z.boolean(),
    has_more_unclaimed: z.boolean().meta({
      description:
        'Whether there were too many attempts without a job to consider all of them as candidates.',
    }),
  })
  .meta({ id: 'BillComparison' });

type Deps = BillingDeps & Pick<RouteDeps, 'billFormat' | 'reports'>;

export function compareBill(deps: Deps): Route {
  return adminRoute({
    operationId: 'compareBill',
    access: 'amounts',
    summary: 'Compare an upstream’s bill with the records of its jobs',
    description: `Nothing is changed or stored. Use \`adopt\` or another action on a task to resolve a difference. Covers at most ${daysMax} days. \`gateway reconcile\` compares longer periods.`,
    method: 'post',
    paths: ['/admin/v1/bills/compare'],
    readBody: jsonBody,
    input: z.object({ body }),
    success: {
      description: 'The rows that match, the rows that differ, and the rows that exist on only one side.',
      schema: comparedBillSchema,
    },
    errors: ['channel_not_found', 'concurrency_limit_exceeded'],
    async handle({ body: { channel, bill, from, before, ...asked }, operator, meta }) {
      const { id, provider } = findChannel(deps.catalogue, channel);
      if (from !== undefined && before !== undefined && from >= before)
        throw invalidParameter('before', 'The parameter before must be after from.');
      const rows: ReportRow[] = [];
      let hasMore = false;
      const leave = beginReport(deps.reports, operator);
      try {
        const compared = await compare({
          bill: { name: 'The bill', bytes: () => Readable.from([Buffer.from(bill)]) },
          format: formatOf(asked, deps.billFormat(provider)),
          channels: [id],
          models: new Map(),
          own: ownAttempts(deps, meta.closed()),
          daysMax,
          ...defined({ from, to: before }),
          onRow: (row) => {
            if (isInOrder(row.result)) return;
            hasMore ||= rows.length === rowsMax;
            if (!hasMore) rows.push(row);
          },
        });
        return jsonReply(present(compared, rows, hasMore));
      } catch (error) {
        if (error instanceof BillError)
          throw new GatewayError('invalid_parameter', error.message, { param: 'bill', cause: error });
        throw error;
      } finally {
        leave();
      }
    },
  });
}

function formatOf(
  { columns, unit }: Pick<z.output<typeof body>, 'columns' | 'unit'>,
  known: BillFormat | undefined,
): BillFormat {
  const { time: timeColumn, ...named } = columns;
  const { amount, at, ...others } = { ...known?.columns, ...defined({ ...named, at: timeColumn }) };
  if (amount === undefined || at === undefined)
    throw invalidParameter(
      'columns',
      'The format of this vendor’s bills is not known. Set the columns `amount` and `time`.',
    );
  return {
    source: '',
    ...known,
    columns: { ...others, amount, at },
    ...defined({ unit: unit ?? known?.unit }),
  };
}

// eslint-disable-next-line require-await
type Compared = Awaited<ReturnType<typeof compare>>;

function present(
  { by, read, isInOrder: inOrder, notes, totals }: Compared,
  rows: readonly ReportRow[],
  hasMore: boolean,
): z.output<typeof comparedBillSchema> {
  return {
    object: 'bill.comparison',
    by,
    from: read.period.from,
    before: read.period.to,
    in_order: inOrder,
    notes: [...notes],
    totals: [...totals],
    rows: rows.map(({ candidates, channel: _channel, lines: _lines, cost_unknown: _unknown, ...row }) => ({
      ...row,
      candidates: candidates.map(({ task, attempt, state, adoptable, why }) => ({
        task,
        attempt,
        state,
        adoptable,
        why: [...why],
      })),
    })),
    has_more: hasMore,
    has_more_unclaimed: read.hasMoreUnclaimed ?? false,
  };
}
