import { z } from 'zod';
import type { Task } from '../../task/record.ts';
import { formatMicros } from '../../money/money.ts';
import type { Reckoning } from '../../money/reckoning.ts';
import { proposedCharge } from '../../operating/situation.ts';
import { readHoldReckoning, readSettleReckoning } from '../../money/ledger-basis.ts';
import type { LedgerEntry } from '../../ledger/entry.ts';
import type { RouteDeps } from '../deps.ts';
import { moneyOf } from '../presenters/receipt.ts';
import { presentWritten, reckoningSchema } from '../presenters/reckoning.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';

const amountSchema = z
  .object({
    amount: z.string().meta({ description: 'According to the ledger.' }),
    how: reckoningSchema.nullable().meta({
      description: 'The explanation stored with the entry. Null if there is none.',
    }),
  })
  .nullable();

const explanationSchema = z
  .object({
    object: z.literal('price.explanation'),
    task: z.string(),
    account: z.string(),
    model: z.string().nullable(),
    status: z
      .string()
      .nullable()
      .meta({ description: 'Null for synchronous images, because they have no task.' }),
    currency: z.string(),
    hold: amountSchema.meta({ description: 'Null if nothing was ever held.' }),
    charge: amountSchema.meta({ description: 'Null if the charge has not been decided yet.' }),
    refunded: z.string(),
    note: z.string(),
  })
  .meta({ id: 'TaskPriceExplanation' });

type Deps = Pick<RouteDeps, 'tasks' | 'ledger' | 'catalogue'>;

export function explainTaskPrice({ tasks, ledger, catalogue }: Deps): Route {
  return adminRoute({
    operationId: 'explainTaskPrice',
    access: 'amounts',
    summary: 'Explain what was held and charged for a task',
    description: 'Uses the explanations in the ledger’s entries. Works for synchronous images, too.',
    method: 'get',
    paths: ['/admin/v1/tasks/:task_id/price'],
    input: z.object({ params: taskParams }),
    success: { description: 'The hold and the charge, step by step.', schema: explanationSchema },
    errors: ['task_not_found'],
    async handle({ params: { task_id: id } }) {
      const [task, entries] = await Promise.all([tasks.find(id), ledger.entriesOfTask(id)]);
      const account = task?.account ?? entries[0]?.account;
      if (account === undefined) throw taskNotFound();
      const { currency } = catalogue.current();
      const { model = entries[0]?.model ?? null, status = null } = task ?? {};
      return jsonReply({
        object: 'price.explanation',
        task: id,
        account,
        model,
        status,
        currency,
        ...presentMoney(entries, currency),
        note: noteOf(task, entries),
      });
    },
  });
}

function presentMoney(entries: readonly LedgerEntry[], currency: string) {
  const { hold, settled, charge, refunded } = moneyOf(entries);
  const present = (how: Reckoning | undefined) => presentWritten(how, { holdBasis: hold?.basis, currency });
  const how = present(readSettleReckoning(settled?.basis));
  return {
    hold:
      hold === undefined
        ? null
        : { amount: formatMicros(hold.amount), how: present(readHoldReckoning(hold.basis)) },
    charge: charge === undefined ? null : { amount: formatMicros(charge), how },
    refunded: formatMicros(refunded),
  };
}

function noteOf(task: Task | undefined, entries: readonly LedgerEntry[]): string {
  const has = (kind: LedgerEntry['kind']): boolean => entries.some((entry) => entry.kind === kind);
  if (has('settle')) return 'The hold has been settled.';
  if (has('release') || has('void')) return 'Nothing is charged, and the hold is released.';
  const proposed = task === undefined ? undefined : proposedCharge(task.state);
  if (proposed !== undefined)
    return `According to the upstream’s report, the charge is ${formatMicros(proposed)}. An operator must decide whether to charge it.`;
  return 'The charge depends on the upstream’s report, at the prices frozen with the hold.';
}
