import {
  ApplicationFailure,
  CancellationScope,
  condition,
  currentUpdateInfo,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ConcernNews } from '../activities/deps.ts';
import type { ActReply, ActRequest } from '../activities/types.ts';
import { concerns } from '../src/domain/attention.ts';
import { describeAction, readActionInput, workflowActions } from '../src/domain/operator-actions.ts';
import type {
  ActionInput,
  ActionResult,
  OperatorActionName,
  WorkflowActionName,
} from '../src/domain/operator-actions.ts';
import { commandLine } from '../src/domain/situation.ts';
import { stateWords } from '../src/domain/task-state.ts';
import { actOnTask, lookAgain, stepTask, wakeTask } from './activity-proxies.ts';
import {
  actionUpdate,
  concernSignal,
  operatorCancelUpdate,
  refusedAction,
  unservedSignal,
} from './messages.ts';
import type { OperatorCancelAnswer } from './messages.ts';
import { isDecided, isOver, note, see, show } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/**
 * The operators' updates. Each is checked against the task's record and written into it, with who, when and why, before
 * the workflow acts on it, whichever way it came. What cannot be read is refused by a validator, and leaves no trace.
 */
export function handleActions(run: TaskRun): void {
  for (const name of workflowActions) {
    setHandler(actionUpdate(name), (raw) => unstopped(() => act(run, name, raw)), {
      validator: (raw) => validate(run, name, raw),
      description: describeAction(name),
    });
  }
  // Whoever may use the Temporal UI may send a signal without its input, or with any other.
  setHandler(concernSignal, (news: ConcernNews | null | undefined) => {
    if (isOver(run)) return;
    const concern = concerns.find((known) => known === news?.concern);
    const { concern: _, ...view } = run.view;
    run.view = concern === undefined ? view : { ...view, concern };
    show(run);
  });
  // What is in flight is not disturbed: the record refuses.
  setHandler(unservedSignal, (channels) =>
    unstopped(async () => {
      if (!isOver(run) && Array.isArray(channels)) await stepTask(run, { kind: 'skipped', channels });
    }),
  );
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

/** `message`: a sentence for the operator. */
function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, refusedAction);
}

function requireInput(name: OperatorActionName, raw: unknown): ActionInput {
  const read = readActionInput(name, raw);
  if (!read.ok) throw refused(read.message);
  return read.input;
}

function validate(run: TaskRun, name: OperatorActionName, raw: unknown): void {
  requireInput(name, raw);
  if (isOver(run)) throw refused(`\`${name}\` is not possible: the task has ended.`);
}

/** Who acts is decided where it can be checked: a workflow cannot learn from Temporal who called it. */
function requestOf(run: TaskRun, action: ActRequest['action'], input: ActionInput): ActRequest {
  const { task, currency, basis } = run.input;
  // A cancellation with Temporal's own tools has no update: there is one for each run, and a reset begins another run.
  const { id } = currentUpdateInfo() ?? { id: `ui-cancel-${workflowInfo().runId}` };
  return { task, currency, basis, action, input, id, at: Date.now() };
}

async function act(run: TaskRun, name: WorkflowActionName, raw: unknown): Promise<ActionResult> {
  const input = requireInput(name, raw);
  const reply = await ask(run, requestOf(run, name, input));
  if (!reply.done) throw refused(reply.message);
  const { said } = reply;
  if ('would' in said) return said;
  if (name === 'retry_now') return { did: { ...said.did, task: await wake(run, said.did.task) } };
  if (name !== 'fail') return said;
  await condition(() => isDecided(run));
  if (!isOver(run)) throw refused(`The task was not failed: ${stateWords[run.view.state.at]}.`);
  if (run.view.status === 'succeeded')
    throw refused('The upstream had already finished: the task succeeded.');
  return said;
}

async function ask(run: TaskRun, request: ActRequest): Promise<ActReply> {
  const reply = await actOnTask(run, request);
  // A refusal may mean that the workflow does not know how far the task is.
  if (reply.done) see(run, reply.view);
  else if (!isOver(run)) await lookAgain(run);
  return reply;
}

/** Ends the back-off of the activity that the task waits for. */
async function wake({ input, work }: TaskRun, said: string): Promise<string> {
  if (work === undefined || work.isOver || work.activity === 'find') return said;
  const isWoken = await wakeTask(input.task, work.activity);
  return isWoken ? said : 'There is nothing to wake: it is being tried at this moment.';
}

async function cancel(run: TaskRun, raw: unknown): Promise<OperatorCancelAnswer> {
  if (raw !== undefined) return requestCancel(run, requestOf(run, 'cancel', requireInput('cancel', raw)));
  const input = { reason: 'cancelled by its caller', by: 'caller' };
  return requestCancel(run, { ...requestOf(run, 'cancel', input), isCallers: true });
}

/** Never "cancelled" for a job that keeps running and costing. */
async function requestCancel(run: TaskRun, request: ActRequest): Promise<OperatorCancelAnswer> {
  const reply = await ask(run, request);
  if (!reply.done) return { cancelled: false, message: reply.message };
  if ('would' in reply.said) return reply.said;
  await condition(() => isDecided(run));
  const { state, status, error } = run.view;
  if (error?.code === 'task_cancelled') return { cancelled: true };
  if (isOver(run)) return { cancelled: false, message: `The task has already ${status}.` };
  const message =
    state.at === 'lost'
      ? 'It is not known whether the upstream has the task; an operator has been asked to decide.'
      : 'The upstream is already working on it, so it can no longer be cancelled.';
  return { cancelled: false, message };
}

/** A cancellation that nobody waits for, from the Temporal UI or its command line: what came of it is shown there. */
export async function cancelFromUi(run: TaskRun): Promise<void> {
  const input = { reason: 'cancelled with Temporal’s own tools', by: 'unknown' };
  const answer = await requestCancel(run, { ...requestOf(run, 'cancel', input), isCancelRequest: true });
  if ('would' in answer || answer.cancelled || isOver(run)) return;
  const instead = `\`${commandLine(run.input.task, 'fail')}\``;
  note(run, `A cancellation was requested and did nothing: ${answer.message} To end the task: ${instead}`);
}
