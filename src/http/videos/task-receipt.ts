import { z } from 'zod';
import { isWithin, type Reach } from '../../base/key-scope.ts';
import { isImageId } from '../../base/ids.ts';
import type { RouteDeps } from '../deps.ts';
import { presentReceipt, receiptSchema, subjectOfEntries } from '../presenters/receipt.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';
import { findOwnTask, taskNotFound, taskParams } from './own-task.ts';
import type { TaskRoute } from './query-task.ts';

export type ReceiptDeps = Pick<
  RouteDeps,
  'tasks' | 'ledger' | 'requests' | 'catalogue' | 'receiptKeys' | 'publicUrl'
>;

export function taskReceipt({ kind, ...route }: TaskRoute, deps: ReceiptDeps): Route {
  return keyRoute({
    ...route,
    scope: 'read_own',
    description:
      'A signed statement of what was requested, which prices were frozen, what was consumed and what was charged, with the task’s ledger entries. Anybody can verify it without the gateway, using the keys from `/.well-known/jwks.json`. The receipt of a failed or cancelled task states a charge of 0. Once the task has ended, its receipt changes only if the task is refunded, its result is copied later, or its request is no longer kept.',
    method: 'get',
    input: z.object({ params: taskParams }),
    success: { description: 'The receipt and its signature.', schema: receiptSchema },
    errors: ['task_not_found', 'missing_parameter'],
    async handle({ params, reach }) {
      const { task, entries, request } = await receiptFacts({ id: params.task_id, reach, kind }, deps);
      const { currency, receipts } = deps.catalogue.current();
      const payload = presentReceipt(task, { entries, request, currency, issuer: deps.publicUrl });
      const jws = deps.receiptKeys.sign(payload, receipts.key);
      return jsonReply({ object: 'receipt', task: task.id, payload, jws });
    },
  });
}

interface Asked extends Pick<TaskRoute, 'kind'> {
  readonly id: string;
  readonly reach: Reach;
}

async function receiptFacts(asked: Asked, { tasks, ledger, requests }: ReceiptDeps) {
  const { id, reach, kind } = asked;
  if (kind !== 'image' || !isImageId(id)) {
    const task = await findOwnTask(tasks, asked);
    const [entries, request] = await Promise.all([ledger.entriesOfTask(id), requests.find(id)]);
    return { task, entries, request };
  }
  const entries = await ledger.entriesOfTask(id);
  const task = subjectOfEntries(entries);
  if (task === undefined || !isWithin(reach, task)) throw taskNotFound();
  return { task, entries, request: undefined };
}
