import { CancellationScope, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import { defined } from '../src/domain/defined.ts';
import {
  describeAction,
  readActionInput,
  refusalOf,
  workflowActions,
} from '../src/domain/operator-actions.ts';
import type {
  ActionInput,
  ActionResult,
  OperatorActionName,
  WorkflowActionName,
} from '../src/domain/operator-actions.ts';
import { recordAction } from './activity-proxies.ts';
import { requestCancel } from './cancel-task.ts';
import { actionUpdate, apiUpdatePrefix, concernSignal, operatorCancelUpdate } from './messages.ts';
import type { CancelAnswer } from './messages.ts';
import { performAction, refused } from './perform-action.ts';
import { commandLine, describe, noteConcern, situationOf } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/**
 * The operators' updates. What cannot be done is refused by a validator: such an update leaves no trace in the history,
 * and changes nothing. What is done writes who, when and why into the task's record, whichever way it came.
 */
export function handleActions(run: TaskRun): void {
  for (const name of workflowActions) {
    setHandler(actionUpdate(name), (raw) => unstopped(() => act(run, name, raw)), {
      validator: (raw) => validate(run, name, raw),
      description: describeAction(name),
    });
  }
  setHandler(concernSignal, (news) => noteConcern(run, news));
  setHandler(operatorCancelUpdate, (raw) => unstopped(() => cancel(run, raw)), {
    validator: (raw) => {
      if (raw !== undefined) validate(run, 'cancel', raw);
    },
    description: `${describeAction('cancel')} Without an input it is the caller’s own cancellation.`,
  });
}

/** After a cancellation from the Temporal UI the task still lives, and is acted on as before. */
function unstopped<Result>(handle: () => Promise<Result>): Promise<Result> {
  return CancellationScope.nonCancellable(handle);
}

/** A cancellation that nobody waits for, from the Temporal UI: what came of it is shown there. */
export async function cancelFromUi(run: TaskRun): Promise<void> {
  const answer = await requestCancel(run);
  if (answer.cancelled || run.phase === 'ended') return;
  run.notice = `A cancellation was requested and did nothing: ${answer.message} To end the task: ${commandLine(run, 'fail')}`;
  describe(run, run.details);
}

function requireInput(name: OperatorActionName, raw: unknown): ActionInput {
  const read = readActionInput(name, raw);
  if (!read.ok) throw refused(read.message);
  return read.input;
}

function validate(run: TaskRun, name: OperatorActionName, raw: unknown): void {
  requireInput(name, raw);
  const refusal = refusalOf(name, situationOf(run));
  if (refusal !== undefined) throw refused(refusal);
  if (run.acting) throw refused('Another action on this task is being carried out; try again in a moment.');
}

async function act(run: TaskRun, name: WorkflowActionName, raw: unknown): Promise<ActionResult> {
  const input = requireInput(name, raw);
  const at = Date.now();
  const result = await performAction(run, name, input);
  if (!result.dry_run) await record(run, { at, name, input, detail: result.task });
  return result;
}

async function cancel(run: TaskRun, raw: unknown): Promise<CancelAnswer> {
  const at = Date.now();
  const input = raw === undefined ? undefined : requireInput('cancel', raw);
  if (input?.dry_run === true) return wouldCancel;
  const answer = await requestCancel(run);
  if (input !== undefined && answer.cancelled) {
    await record(run, { at, name: 'cancel', input, detail: 'The task was cancelled.' });
  }
  return answer;
}

const wouldCancel: CancelAnswer = {
  cancelled: false,
  message:
    'This was a dry run: nothing was done. Without it the task is cancelled and its hold released in full, if its upstream still allows it.',
};

interface Deed {
  readonly at: number;
  readonly name: OperatorActionName;
  readonly input: ActionInput;
  readonly detail: string;
}

async function record(run: TaskRun, { at, name, input, detail }: Deed): Promise<void> {
  const { id } = currentUpdateInfo() ?? { id: '' };
  const by = id.startsWith(apiUpdatePrefix) ? (input.by ?? 'operator') : temporalUser(input.by);
  const action = { id, at, by, action: name, reason: input.reason, ...defined({ detail }) };
  await recordAction(run, run.input.task, action);
}

/** A workflow cannot learn from Temporal who called it. */
function temporalUser(name: string | undefined): string {
  return name === undefined ? 'temporal' : `temporal:${name}`;
}
