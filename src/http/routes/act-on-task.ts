import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import { idCharactersMax, isToken } from '../../base/plain-text.ts';
import { actionFields, type ActionField } from '../../operating/act-fields.ts';
import {
  accessOfAct,
  actionTable,
  actsWith,
  dryRunMeaning,
  introduceAction,
  needsPlan,
  operatorActions,
} from '../../operating/acts.ts';
import { actPlan, bulkId, isDryRun, plainWords, reason, refundAmount, requirePlan } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { requireAccess } from '../identify.ts';
import { taskNotFound, taskParams } from '../videos/own-task.ts';
import { adminTaskSchema, presentAdminTask } from '../presenters/admin-task.ts';
import { actionResult } from '../presenters/action-result.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'actOnTask' | 'mediaUrl' | 'nodes'>;

function described(field: ActionField): { readonly description: string } {
  const acts = actsWith(field).map((name) => `\`${name}\``);
  return { description: `${acts.join(', ')}: ${actionFields[field].description}.` };
}

const text = (field: ActionField, max: number) => plainWords(max).min(1).optional().meta(described(field));

const fields = {
  upstream_id: text('upstream_id', idCharactersMax).refine(
    (id) => id === undefined || isToken(id, idCharactersMax),
    'must be the id of a job at the upstream',
  ),
  channel: text('channel', 128),
  seconds: z.int().min(60).max(604_800).optional().meta(described('seconds')),
  result_url: text('result_url', 2048),
  duration: z.number().positive().max(86_400).optional().meta(described('duration')),
  resolution: text('resolution', 32),
  total_tokens: z.int().min(0).max(1_000_000_000).optional().meta(described('total_tokens')),
  images: z.int().min(1).max(1000).optional().meta(described('images')),
  amount: refundAmount.meta(described('amount')),
} satisfies Record<ActionField, z.ZodType>;

const body = z
  .object({
    action: z.enum(operatorActions),
    reason,
    dry_run: isDryRun,
    plan: actPlan,
    bulk: bulkId,
    ...fields,
  })
  .superRefine(({ action, ...given }, context) => {
    requirePlan(action, given, context);
    for (const [name, isRequired] of Object.entries(actionTable[action].fields)) {
      const isMissing =
        isRequired && !Object.entries(given).some(([field, value]) => field === name && value !== undefined);
      if (isMissing) context.addIssue({ code: 'custom', path: [name], message: `is required for ${action}` });
    }
  });

const planned = operatorActions.filter(needsPlan).map((name) => `\`${name}\``);
const descriptions = operatorActions.map((name) => `- \`${name}\`: ${introduceAction(name)}`).join('\n');

export function actOnTask({ tasks, actOnTask: act, mediaUrl, nodes }: Deps): Route {
  return adminRoute({
    operationId: 'actOnTask',
    access: ['tasks', 'money'],
    summary: 'Act on a task',
    description: `The task’s record states who acted, when and why. A rejected action changes nothing. ${dryRunMeaning} Actions that move money or may cause double billing need the \`plan\` of their dry run: ${planned.join(', ')}.\n\n${descriptions}`,
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
    async handle({ params: { task_id: id }, body: { action, bulk: _bulk, ...fields }, operator, roles }) {
      requireAccess({ name: operator, roles }, accessOfAct(action));
      // Confirm that the record is current. A rejected action writes nothing, so no later write would reveal a stale
      // read.
      const task = await tasks.confirm(id);
      if (task === undefined) throw taskNotFound();
      const result = await act({ task, action, input: { ...defined(fields), by: operator } });
      const after = (await tasks.find(id)) ?? task;
      return jsonReply({ ...presentAdminTask(after, { mediaUrl, roles, nodes }), result });
    },
  });
}
