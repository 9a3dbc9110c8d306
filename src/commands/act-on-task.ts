import { newActionId, type RandomBytes } from '../base/ids.ts';
import { GatewayError } from '../errors/errors.ts';
import { planRefusal, resultOf } from './act-plan.ts';
import { readActionInput, type ActionResult, type OperatorActionName } from '../operating/acts.ts';
import type { ActionInput } from '../operating/act-fields.ts';
import { requireRedeliverable } from '../task/require-redeliverable.ts';
import { isTerminal } from '../task/task.ts';
import type { Task, TaskActionRecord } from '../task/record.ts';
import type { RequestStore } from '../store/requests.ts';
import type { TaskStore } from '../store/tasks.ts';
import { recordSeen, refundTask, refused, type RefundTaskDeps } from './refund-task.ts';
import type { TaskPort } from './task-port.ts';

export interface ActOnTaskDeps extends RefundTaskDeps {
  readonly tasks: RefundTaskDeps['tasks'] & Pick<TaskStore, 'find'>;
  readonly requests: Pick<RequestStore, 'find'>;
  readonly port: Pick<TaskPort, 'act' | 'redeliver'>;
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export interface TaskAction {
  readonly task: Task;
  readonly action: OperatorActionName;
  readonly input: ActionInput;
}

/**
 * Carries out an operator's action. Unfinished tasks are changed by their workflows, and finished ones here. If this
 * throws `action_not_possible`, nothing has changed.
 */
export function createActOnTask(deps: ActOnTaskDeps) {
  return async ({ task, action, input }: TaskAction): Promise<ActionResult> => {
    const read = readActionInput(action, input);
    if (!read.ok) throw new GatewayError('invalid_parameter', read.message, { param: 'action' });
    if (action === 'refund') return refundTask(task, input, deps);
    if (action === 'redeliver') return redeliver(task, input, deps);
    if (isTerminal(task.status)) throw refused(`The task has already ${task.status}.`);
    return deps.port.act(task.id, action, input);
  };
}

/**
 * Finds an action by its update id after its response was lost. Returns undefined if the action did nothing, for
 * example because the task succeeded before it could be ended.
 */
export function recordedAct(task: Task | undefined, id: string): TaskActionRecord | undefined {
  const act = task?.actions?.find((record) => record.id === id);
  const wasToEnd = act?.action === 'fail' || act?.action === 'cancel';
  return wasToEnd && task?.status === 'succeeded' ? undefined : act;
}

async function redeliver(
  task: Task,
  input: ActionInput,
  { requests, port, tasks, now, randomBytes }: ActOnTaskDeps,
): Promise<ActionResult> {
  requireRedeliverable(task, await requests.find(task.id));
  const planned = { id: task.id, rev: task.rev, action: 'redeliver', input } as const;
  const outdated = planRefusal(planned);
  if (outdated !== undefined) throw refused(outdated);
  const detail = 'The callback is redelivered, with a new series of attempts.';
  const said = { task: detail, money: 'It moves no money.' };
  if (input.dry_run !== true) {
    await port.redeliver(task.id);
    const { by, reason } = input;
    const id = newActionId(randomBytes);
    const act = { id, at: now(), by, action: 'redeliver', reason, detail } as const;
    await recordSeen(task, act, tasks);
  }
  return resultOf(said, planned);
}
