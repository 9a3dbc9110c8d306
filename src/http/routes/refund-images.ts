import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { actPlan, isDryRun, reason, refundAmount, requirePlan } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { actionResult } from '../presenters/action-result.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';

export function refundImages({ refundImages: giveBack }: Pick<RouteDeps, 'refundImages'>): Route {
  return adminRoute({
    operationId: 'refundImages',
    access: 'money',
    summary: 'Refund synchronous images',
    description:
      'Refunds the charge, or a part of it, once. Synchronous images have no task. Their id (`img_…`) is in the header `x-mediary-image` of their response, and their ledger entries are their only record. The audit log and the ledger entry record who made the refund and why.',
    method: 'post',
    paths: ['/admin/v1/images/:task_id/refund'],
    input: z.object({
      params: taskParams,
      body: z
        .object({ reason, amount: refundAmount, dry_run: isDryRun, plan: actPlan })
        .superRefine((given, context) => requirePlan('refund', given, context)),
    }),
    success: { description: 'The refunded amount.', schema: z.object({ result: actionResult }) },
    errors: ['task_not_found', 'action_not_possible'],
    async handle({ params: { task_id: id }, body, operator }) {
      const result = await giveBack(id, { ...defined(body), by: operator });
      if (result === undefined) throw taskNotFound();
      return jsonReply({ result });
    },
  });
}
