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
import { describeAction, readActionInput, workflowActions } from '../src/task/acts.ts';
import type { ActionInput } from '../src/task/act-fields.ts';
import type { ActionResult } from '../src/task/acts.ts';
import { commandLine } from '../src/task/situation.ts';
import { isLost, stateWords } from '../src/task/state.ts';
import { actOnTask, lookAtTask, stepTask, wakeTask } from './activity-proxies.ts';
import { actionUpdate, concernSignal, refusedAction, unservedSignal } from './messages.ts';
import { isDecided, isOver, note, see, show } from './task-run.ts';
import type { TaskRun } from './task-run.ts';

/**
 * The operators' updates. Each is checked against the task's record and written into it, with who, when and why, before
 * the workflow acts on it, whichever way it came. What cannot be read is refused by a validator, and leaves no trace.
 */
export function handleActions(run: TaskRun): void {
  for (const name of workflowActions) {
    setHandler(actionUpdate(name), (raw) => unstopped(() => act(run, requestOf(run, name, raw))), {
      validator: (raw) => validate(run, name, raw),
      description: `${describeAction(name)}${name === 'cancel' ? callersCancelWords : ''}`,
    });
  }
  // Whoever may use the Temporal UI may send a signal without its input, or with any other.
  setHandler(concernSignal, (given: unknown) => {
    if (isOver(run)) return;
    const concern = concerns.find((known) => known === given);
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
}

const callersCancelWords = ' Without an input it is the caller’s own cancellation.';

/** Who says nothing about who and why is the caller: whoever writes the same has another input. */
const callersCancel: ActionInput = { reason: 'cancelled by its caller', by: 'caller' };

/** After a cancellation from the Temporal UI the task still lives, and is acted on as before. */
function unstopped<Result>(handle: () => Promise<Result>): Promise<Result> {
  return CancellationScope.nonCancellable(handle);
}

/** `message`: a sentence for the operator. */
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

/** Who acts is decided where it can be checked: a workflow cannot learn from Temporal who called it. */
function requestOf(run: TaskRun, action: ActRequest['action'], raw: unknown): ActRequest {
  const { task, currency, basis } = run.input;
  const input = requireInput(action, raw);
  const isCallers = input === callersCancel;
  // A cancellation with Temporal's own tools has no update: there is one for each run, and a reset begins another run.
  const { id } = currentUpdateInfo() ?? { id: `ui-cancel-${workflowInfo().runId}` };
  return { task, currency, basis, action, input, id, at: Date.now(), ...(isCallers ? { isCallers } : {}) };
}

async function act(run: TaskRun, request: ActRequest): Promise<ActionResult> {
  const { action } = request;
  const reply = await actOnTask(run, request).catch((error: unknown) => ({ done: false, error }) as const);
  if (!reply.done) {
    // The workflow may not know how far the task is: it was refused, or whoever wrote it could not say so.
    if (!isOver(run)) await lookAtTask(run);
    throw 'error' in reply ? reply.error : refused(reply.message);
  }
  const { said, view } = reply;
  see(run, view);
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
  if (!isOver(run)) return `The task was not failed: ${stateWords[state.at]}.`;
  return status === 'succeeded' ? 'The upstream had already finished: the task succeeded.' : undefined;
}

/** Never "cancelled" for a job that keeps running and costing. */
function whyNotCancelled(run: TaskRun): string | undefined {
  const { state, status, error } = run.view;
  if (error?.code === 'task_cancelled') return undefined;
  if (isOver(run)) return `The task has already ${status}.`;
  return isLost(state)
    ? 'It is not known whether the upstream has the task; an operator has been asked to decide.'
    : 'The upstream is already working on it, so it can no longer be cancelled.';
}

/** Tries the activity that the task waits for now, and says what came of it. */
async function wake(run: TaskRun, said: string): Promise<string> {
  const { input, work } = run;
  if (work === undefined || work.isOver || work.activity === 'find') return said;
  const woken = await wakeTask(input.task, work.activity);
  switch (woken.kind) {
    case 'tried':
      return `It was tried just now: ${woken.ended}.`;
    case 'begun':
      return `${said} A worker has started an attempt; the task will show its outcome.`;
    case 'not_begun':
      return 'An attempt is due, but no worker has started it yet. `gateway nodes` shows which workers run.';
    case 'busy':
      return 'Nothing to wake: an attempt is running now.';
    case 'ended':
      return `It was tried just now: ${stateWords[run.view.state.at]}.`;
    default:
      return woken satisfies never;
  }
}

/** A cancellation that nobody waits for, from the Temporal UI or its command line: what came of it is shown there. */
export async function cancelFromUi(run: TaskRun): Promise<void> {
  const input = { reason: 'cancelled with Temporal’s own tools', by: 'unknown' };
  try {
    await act(run, { ...requestOf(run, 'cancel', input), isCancelRequest: true });
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || isOver(run)) return;
    const instead = `\`${commandLine(run.input.task, 'fail')}\``;
    note(run, `A cancellation was requested and did nothing: ${error.message} To end the task: ${instead}`);
  }
}
