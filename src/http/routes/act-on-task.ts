import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { idCharactersMax, isToken } from '../../base/plain-text.ts';
import { actionTable, describeAction, operatorActions } from '../../task/acts.ts';
import { plainWords, reason, refundAmount } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { actionResult } from '../presenters/action-result.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'actOnTask' | 'mediaUrl' | 'nodes'>;

const text = (max: number, description: string) => plainWords(max).min(1).optional().meta({ description });

const body = z
  .object({
    action: z.enum(operatorActions),
    reason,
    dry_run: z.boolean().optional().meta({ description: 'Say what would happen, and do nothing.' }),
    upstream_id: text(idCharactersMax, '`adopt`: the upstream job that belongs to the task.').refine(
      (id) => id === undefined || isToken(id, idCharactersMax),
      'must be an upstream’s id of a job',
    ),
    channel: text(
      128,
      '`resubmit`: a channel of the task’s plan. Default: the one that lost the submission.',
    ),
    seconds: z
      .int()
      .min(60)
      .max(604_800)
      .optional()
      .meta({ description: '`extend`: how much later the deadline is.' }),
    result_url: text(2048, '`complete`: the http or https address of the result.'),
    duration: z.number().positive().max(86_400).optional().meta({ description: '`complete`: seconds.' }),
    resolution: text(32, '`complete`: of the result.'),
    total_tokens: z.int().min(0).max(1_000_000_000).optional().meta({
      description: '`complete`: what the upstream bills, where it bills tokens.',
    }),
    images: z.int().min(1).max(1000).optional().meta({ description: '`complete`: number of images.' }),
    amount: refundAmount.meta({
      description: '`refund`: how much, as a decimal string. Default: all that was charged.',
    }),
  })
  .superRefine(({ action, ...fields }, context) => {
    for (const [name, isRequired] of Object.entries(actionTable[action].fields)) {
      const isMissing =
        isRequired && !Object.entries(fields).some(([field, value]) => field === name && value !== undefined);
      if (isMissing) context.addIssue({ code: 'custom', path: [name], message: `is required for ${action}` });
    }
  });

const descriptions = operatorActions.map((name) => `- \`${name}\`: ${describeAction(name)}`).join('\n');

export function actOnTask({ tasks, actOnTask: act, mediaUrl, nodes }: Deps): Route {
  return adminRoute({
    operationId: 'actOnTask',
    summary: 'Act on a task',
    description: `The task's record keeps who acted, when and why. An action that is refused changes nothing.\n\n${descriptions}`,
    method: 'post',
    paths: ['/admin/v1/tasks/:task_id/actions'],
    input: z.object({ params: taskParams, body }),
    success: {
      description: 'The task after the action, and what was done.',
      schema: adminTaskSchema.extend({
        result: actionResult,
      }),
    },
    errors: ['task_not_found', 'action_not_possible'],
    async handle({ params: { task_id: id }, body: { action, ...fields }, operator, role }) {
      // A refusal is followed by no write that could know better.
      const task = await tasks.confirm(id);
      if (task === undefined) throw taskNotFound();
      const result = await act({ task, action, input: { ...defined(fields), by: operator } });
      const after = (await tasks.find(id)) ?? task;
      return jsonReply({ ...presentAdminTask(after, { mediaUrl, role, nodes }), result });
    },
  });
}
