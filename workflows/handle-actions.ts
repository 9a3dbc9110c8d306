import {
  ApplicationFailure,
  CancellationScope,
  condition,
  currentUpdateInfo,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActRequest } from '../activities/types.ts';
import { concerns } from '../src/task/attention.ts';
import { describeAction, readActionInput, workflowActions } from '../src/operating/acts.ts';
import type { ActionInput } from '../src/operating/act-fields.ts';
import type { ActionResult } from '../src/operating/acts.ts';
import { commandLine } from '../src/operating/situation.ts';
import { isLost, stateWords } from '../src/task/state.ts';
import { actOnTask, lookAtTask, stepTask, wakeTask } from './activity-proxies.ts';
import { actionUpdate, concernSignal, refusedAction, unservedSignal } from './messages.ts';
import { isDecided, isOver, isUnderWay, note, see, show, type TaskRun } from './task-run.ts';

/**
 * Every update, whichever client sends it, is checked against the record and written to it before the workflow acts.
 * The validator rejects malformed input, which leaves no trace in the history.
 */
export function handleActions(run: TaskRun): void {
  for (const name of workflowActions) {
    setHandler(actionUpdate(name), (raw) => unstopped(() => act(run, requestOf(run, name, raw))), {
      validator: (raw) => validate(run, name, raw),
      description: `${describeAction(name)}${name === 'cancel' ? callersCancelWords : ''}`,
    });
  }
  // Anyone with access to the Temporal UI can send this signal, so do not trust its input.
  setHandler(concernSignal, (given: unknown) => {
    if (isOver(run)) return;
    const concern = concerns.find((known) => known === given);
    const { concern: _, ...view } = run.view;
    run.view = concern === undefined ? view : { ...view, concern };
    show(run);
  });
  // This does not affect a submission in flight, because the record refuses the event.
  setHandler(unservedSignal, (channels) =>
    unstopped(async () => {
      if (!isOver(run) && Array.isArray(channels)) await stepTask(run, { kind: 'skipped', channels });
    }),
  );
}

const callersCancelWords = ' Without an input, it acts as the caller’s own cancellation.';

/** Used as the input of a caller's cancellation, which has none of its own. */
const callersCancel: ActionInput = { reason: 'cancelled by its caller', by: 'caller' };

/**
 * Keeps an update running after a cancellation from the Temporal UI. The task still exists then, and operators must be
 * able to act on it.
 */
function unstopped<Result>(handle: () => Promise<Result>): Promise<Result> {
  return CancellationScope.nonCancellable(handle);
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, refusedAction);
}

function requireInput(name: ActRequest['action'], raw: unknown): ActionInput {
  if (name === 'cancel' && raw === undefined) return callersCancel;
  const read = readActionInput(name, raw);
  if (!read.ok) throw refused(read.message);
  return read.input;
}

function validate(run: TaskRun, name: ActRequest['action'], raw: unknown): void {
  const input = requireInput(name, raw);
  if (input !== callersCancel && isOver(run))
    throw refused(`\`${name}\` is not possible: the task has ended.`);
}

/** The operator's name comes from the input, because a workflow cannot ask Temporal who called it. */
function requestOf(run: TaskRun, action: ActRequest['action'], raw: unknown): ActRequest {
  const { task, currency, basis } = run.input;
  const input = requireInput(action, raw);
  const isCallers = input === callersCancel;
  // A cancellation with Temporal's own tools is not an update and has no id, so derive one from the run. The id is
  // unique, because a reset starts another run.
  const { id } = currentUpdateInfo() ?? { id: `ui-cancel-${workflowInfo().runId}` };
  return { task, currency, basis, action, input, id, at: Date.now(), ...(isCallers ? { isCallers } : {}) };
}

async function act(run: TaskRun, request: ActRequest): Promise<ActionResult> {
  const { action } = request;
  const { rev } = run.view;
  const reply = await actOnTask(run, request).catch((error: unknown) => ({ done: false, error }) as const);
  if (!reply.done) {
    // The workflow's copy of the record may be outdated, because the action was refused or its process died before
    // reporting the change.
    if (!isOver(run)) await lookAtTask(run);
    throw 'error' in reply ? reply.error : refused(reply.message);
  }
  const { said, view } = reply;
  see(run, view, rev);
  if ('would' in said) return said;
  if (action === 'retry_now') return { did: { ...said.did, task: await wake(run, said.did.task) } };
  if (action !== 'fail' && action !== 'cancel') return said;
  await condition(() => isDecided(run));
  const problem = action === 'fail' ? whyNotFailed(run) : whyNotCancelled(run);
  if (problem !== undefined) throw refused(problem);
  return said;
}

function whyNotFailed(run: TaskRun): string | undefined {
  const { state, status } = run.view;
  if (!isOver(run)) return `The task was not ended as failed: ${stateWords[state.at]}.`;
  return status === 'succeeded' ? 'The upstream had already finished: the task succeeded.' : undefined;
}

/**
 * Returns undefined if the task was cancelled. As long as a job keeps running and costing money, it must not be
 * reported as cancelled.
 */
function whyNotCancelled(run: TaskRun): string | undefined {
  const { state, status, error } = run.view;
  if (error?.code === 'task_cancelled') return undefined;
  if (isOver(run)) return `The task has already ${status}.`;
  return isLost(state)
    ? 'It is not known whether the upstream has the task. An operator has been asked to decide.'
    : 'The upstream is already working on the task, so it can no longer be cancelled.';
}

/**
 * How long to wait for the task's next step to begin. It may be delayed, for example until the previous activity has
 * ended.
 */
const beginsWithinMs = 5_000;

async function wake(run: TaskRun, said: string): Promise<string> {
  const { at } = run.view.state;
  const isLeft = (): boolean => run.view.state.at !== at;
  const hasBegun = (): boolean => isLeft() || isUnderWay(run.work);
  if (!hasBegun()) await condition(hasBegun, beginsWithinMs);
  const { work } = run;
  if (isLeft()) return triedWords(run);
  if (!isUnderWay(work)) return `${said} The task will show the outcome.`;
  const woken = await wakeTask(run.input.task, work.activity);
  switch (woken.kind) {
    case 'tried':
      return `An attempt was made just now: ${woken.ended}.`;
    case 'begun':
      return `${said} A worker has started an attempt; the task will show its outcome.`;
    case 'not_begun':
      return 'An attempt is due, but no worker has started it yet. `gateway nodes` shows which workers run.';
    case 'busy':
      return 'An attempt is running now. The task will show its outcome.';
    case 'ended':
      return triedWords(run);
    default:
      return woken satisfies never;
  }
}

function triedWords({ view: { state } }: TaskRun): string {
  return `An attempt was made just now: ${stateWords[state.at]}.`;
}

/** Temporal does not reply to whoever cancelled the workflow. A refusal is therefore shown in the task's details. */
export async function cancelFromUi(run: TaskRun): Promise<void> {
  const input = { reason: 'cancelled with Temporal’s own tools', by: 'unknown' };
  try {
    await act(run, { ...requestOf(run, 'cancel', input), isCancelRequest: true });
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || isOver(run)) return;
    const instead = `\`${commandLine(run.input.task, 'fail')}\``;
    note(
      run,
      `A cancellation was requested, but had no effect: ${error.message} To end the task: ${instead}`,
    );
  }
}
