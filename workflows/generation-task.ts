import {
  allHandlersFinished, CancellationScope, condition, continueAsNew, workflowInfo,
} from '@temporalio/workflow'; // prettier-ignore
import type { TaskView } from '../activities/types.ts';
import type { TaskInput, TaskResult } from '../src/task/input.ts';
import { waitSummaryStart } from '../src/base/queues.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import { isAbandoned, stopOf, type StateName, type Stop, type TaskState } from '../src/task/state.ts';
import {
  finishTask, lookAtTask, pollOn, searchJob, stepTask, stopJob, submitOn,
} from './activity-proxies.ts'; // prettier-ignore
import { cancelFromUi, handleActions } from './handle-actions.ts';
import { sendCallback } from './send-callback.ts';
import { changed, isOver, isUnderWay, newTaskRun, see, showEnd, waitSummary } from './task-run.ts';
import type { TaskRun, Work } from './task-run.ts';

/**
 * Runs one task from its record to its callback. The workflow acts on the record's state and writes results back to the
 * record. All decisions are made by `next` (src/task/next.ts), so a reset or a new run can continue from the record.
 * The workflow completes even if the task fails. A workflow with the status Failed indicates a bug.
 * @param shown - What the previous run of this task has shown in the search attributes.
 */
export async function generationTask(input: TaskInput, shown?: TaskRun['shown']): Promise<TaskResult> {
  const run = newTaskRun(input, shown);
  handleActions(run);
  // A cancellation from the Temporal UI must not bypass the settlement, so treat it like a cancellation through the
  // API.
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(() => cancelFromUi(run)).catch(() => undefined),
  );
  return CancellationScope.nonCancellable(() => runTask(run));
}

async function runTask(run: TaskRun): Promise<TaskResult> {
  await lookAtTask(run);
  const clock = new CancellationScope();
  clock.run(() => keepDeadline(run)).catch(() => undefined);
  while (!isOver(run)) {
    if (mayRenew(run)) await renew(run);
    else await advance(run);
  }
  clock.cancel();
  leave(run);
  showEnd(run);
  if (run.input.hasCallback && !isAbandoned(run.view.state)) await sendCallback(run);
  await condition(allHandlersFinished);
  await run.lastLocal;
  return resultOf(run);
}

/** In these states, nothing is lost if the run ends, because the next run starts the same wait again. */
const restingStates: ReadonlySet<StateName> = new Set([
  'queued', 'pausing', 'waiting', 'asking', 'broken', 'review',
]); // prettier-ignore

/**
 * Returns true if the task should continue in a new run, because Temporal limits the events and the updates of each
 * run. An update that is in progress would fail, so there must not be one.
 */
function mayRenew({ view }: TaskRun): boolean {
  return workflowInfo().continueAsNewSuggested && restingStates.has(view.state.at) && allHandlersFinished();
}

async function renew(run: TaskRun): Promise<void> {
  const { rev } = run.view;
  if (!(await isFree(run)) || run.view.rev !== rev) return;
  await run.lastLocal;
  if (run.view.rev === rev && mayRenew(run)) await continueAsNew<typeof generationTask>(run.input, run.shown);
}

function resultOf({ view: { state, status, charge = '0', error } }: TaskRun): TaskResult {
  if (isAbandoned(state)) return { status: 'abandoned' };
  if (status === 'succeeded') return { status, charge };
  const { code = 'internal_error', class: failure } = error ?? {};
  return { status: 'failed', code, ...(failure === undefined ? {} : { class: failure }) };
}

/**
 * Ends the task at its deadline, which an operator can move at any time. If the task cannot end yet, for example
 * because its charge is being written, it ends as soon as possible. The record decides whether the deadline has passed,
 * so a timer that fires early is restarted.
 */
async function keepDeadline(run: TaskRun): Promise<void> {
  while (!isOver(run)) {
    const { rev, concern } = run.view;
    const remainingMs = run.view.dueAt - Date.now();
    if (remainingMs > 0) {
      // The Timeline of the Temporal UI shows this summary. It is the only place there that explains why a task waits
      // for its channel.
      const summary = concern === undefined ? deadlineSummary : waitSummary(run);
      await condition(() => run.view.concern !== concern, remainingMs, { summary });
    } else {
      const event = { kind: 'wanted', stop: 'expire' } as const;
      // Do not cancel a step that has begun. A replay would still perform it.
      if (canExpire(run)) await CancellationScope.nonCancellable(() => stepTask(run, event));
      if (run.view.rev !== rev || run.view.dueAt > Date.now()) continue;
      await (canExpire(run) && run.view.remainingMs === undefined
        ? changed(run, unknownTimeLookMs, deadlineSummary)
        : changed(run));
    }
  }
}

/**
 * How often to check again after a jump of the database's clock, when it is not known whether the deadline has passed.
 */
const unknownTimeLookMs = 300_000;

const deadlineSummary = `${waitSummaryStart}for the end of the task, until its deadline at the latest.`;

function canExpire({ view: { state } }: TaskRun): boolean {
  const stop = stopOf(state);
  return state.at !== 'ending' && (stop === undefined || stop === 'cancel');
}

async function advance(run: TaskRun): Promise<void> {
  const { view } = run;
  switch (view.state.at) {
    case 'creating':
    case 'queued':
      return submit(run, view.state.left[0]);
    case 'sending':
      return view.state.stop === undefined ? awaitSubmission(run) : awaitAnswer(run);
    case 'pausing':
      return pause(run, view.state);
    case 'searching':
      return search(run, view.state.stop);
    case 'waiting':
      return wait(run);
    case 'stopping':
      return stop(run, view.state.stop);
    case 'asking':
    case 'broken':
    case 'review':
      return waitForPerson(run);
    case 'ending':
      leave(run);
      return finishTask(run);
    case 'ended':
      return undefined;
    default:
      return view.state satisfies never;
  }
}

/**
 * Measures the pause from now, because the process that decided on it has a different clock. Events that leave the task
 * paused do not prolong the pause.
 */
async function pause(run: TaskRun, { round, ms }: Extract<TaskState, { at: 'pausing' }>): Promise<void> {
  leave(run);
  const begunAt = Date.now();
  for (let { state } = run.view; state.at === 'pausing' && state.round === round; { state } = run.view) {
    const elapsedMs = Date.now() - begunAt;
    if (elapsedMs < ms) await changed(run, ms - elapsedMs, waitSummary(run));
    else await stepTask(run, { kind: 'resumed', elapsedMs });
  }
}

/**
 * The interval at which the record is read again while an operator decides. It grows with each read. Reading is
 * necessary, because a worker that was believed dead may still write to the record.
 */
const personLookMs = { min: 600_000, max: 6 * 3_600_000 };

/** Cancels the running activity first, so that it does not interfere with the operator's decision. */
async function waitForPerson(run: TaskRun): Promise<void> {
  const { rev } = run.view;
  leave(run);
  const isLeft = (): boolean => run.view.rev !== rev || mayRenew(run);
  for (let ms = personLookMs.min; !isLeft(); ms = Math.min(2 * ms, personLookMs.max)) {
    await condition(isLeft, ms, { summary: waitSummary(run) });
    if (!isLeft()) await lookAtTask(run);
  }
}

/** The activity that submits the task also waits for its job to end. */
async function submit(run: TaskRun, candidate: RouteCandidate | undefined): Promise<void> {
  if (candidate === undefined) return stepTask(run, { kind: 'skipped', channels: [] });
  const { task, expectedSeconds } = run.input;
  const { channel } = candidate;
  if (isAt(run.work, 'submit', channel)) return follow(run, run.work);
  const { rev } = run.view;
  return work(run, { activity: 'submit', channel }, () =>
    submitOn(channel).submit({ task, rev, candidate, expectedSeconds }),
  );
}

/** Follows the activity that made the submission. If it no longer exists, starts a new one to take over. */
async function awaitSubmission(run: TaskRun): Promise<void> {
  if (isAt(run.work, 'submit', undefined)) return follow(run, run.work);
  const { attempt } = run.view;
  if (attempt === undefined) return awaitAnswer(run);
  const { channel, credential } = attempt;
  return submit(run, { channel, credential });
}

/**
 * How long a task that is about to end waits for a submission in flight before it cancels the activity. During this
 * time, a dead worker is detected, and another one can report what is known.
 */
const answerPatienceMs = 90_000;

/**
 * Called if the task is about to end while a submission is in flight. If a response still arrives, it decides how the
 * task ends.
 */
async function awaitAnswer(run: TaskRun): Promise<void> {
  const { rev } = run.view;
  const begun = run.work;
  if (isAt(begun, 'submit', undefined)) {
    await ended(run, begun, answerPatienceMs);
    if (run.view.rev !== rev) return;
  }
  // `isFree` cancels the activity and waits for it, because a worker that is still alive finishes its request first.
  if ((await isFree(run)) && run.view.rev === rev) await lookAfterFailure(run);
}

async function wait(run: TaskRun): Promise<void> {
  const { task, expectedSeconds } = run.input;
  const channel = run.view.attempt?.channel ?? '';
  if (isAt(run.work, 'submit', channel) || isAt(run.work, 'poll', channel)) return follow(run, run.work);
  const { rev } = run.view;
  return work(run, { activity: 'poll', channel }, () => pollOn(channel).poll({ task, rev, expectedSeconds }));
}

/** Searches for the job of a lost submission. If the job cannot be found, asks an operator. */
async function search(run: TaskRun, wanted: Stop | undefined): Promise<void> {
  const { task } = run.input;
  const { rev } = run.view;
  if (!(await isFree(run)) || run.view.rev !== rev) return;
  const { findLostJob } = searchJob(wanted !== undefined);
  const looking = begin(run, { activity: 'find', channel: '' }, () => findLostJob(task, rev));
  await ended(run, looking);
  const { state } = run.view;
  if (!looking.isOver || state.at !== 'searching') return;
  // If the final search failed because of a fault on our side, search once more as soon as the record can be read.
  if (state.stop === undefined) await stepTask(run, { kind: 'asked' });
  else if (looking.hasFailed && looking.failures === 0) await lookAtTask(run);
  else await stepTask(run, { kind: 'stopped' });
}

/**
 * If the activity fails, a caller's cancellation is refused. If the task must end anyway, asks the upstream once more
 * and then ends the task.
 */
async function stop(run: TaskRun, wanted: Stop, isAgain = false): Promise<void> {
  const { rev } = run.view;
  try {
    return see(run, await stopJob(run.input.task, rev), rev);
  } catch {
    if (wanted === 'cancel') return stepTask(run, { kind: 'unstoppable' });
    if (isAgain) return stepTask(run, { kind: 'stopped' });
  }
  await lookAtTask(run);
  if (run.view.rev === rev) await stop(run, wanted, true);
}

function isAt(work: Work | undefined, activity: Work['activity'], channel: string | undefined): work is Work {
  return isUnderWay(work) && work.activity === activity && (channel ?? work.channel) === work.channel;
}

/**
 * Waits for the previous activity to end, because Temporal does not run two activities with the same id at the same
 * time.
 */
async function work(
  run: TaskRun,
  kind: Pick<Work, 'activity' | 'channel'>,
  start: () => Promise<TaskView>,
): Promise<void> {
  const { rev } = run.view;
  if ((await isFree(run)) && run.view.rev === rev) await follow(run, begin(run, kind, start));
}

function begin(run: TaskRun, kind: Pick<Work, 'activity' | 'channel'>, start: () => Promise<TaskView>): Work {
  const scope = new CancellationScope();
  const { work: former, view } = run;
  const failures = former?.hasFailed === true && former.rev === view.rev ? former.failures + 1 : 0;
  const { rev } = view;
  const begun: Work = { ...kind, scope, isOver: false, hasFailed: false, failures, rev };
  run.work = begun;
  scope
    .run(start)
    .then(
      (view) => see(run, view, rev),
      () => (begun.hasFailed = true),
    )
    .finally(() => (begun.isOver = true))
    .catch(() => undefined);
  return begun;
}

async function ended(run: TaskRun, begun: Work, ms?: number): Promise<void> {
  const { rev } = run.view;
  const hasEnded = (): boolean => begun.isOver || run.view.rev !== rev;
  if (ms === undefined) await condition(hasEnded);
  else await condition(hasEnded, ms);
}

async function follow(run: TaskRun, begun: Work): Promise<void> {
  const { rev: before } = run.view;
  await condition(() => begun.isOver || run.view.rev !== before || mayRenew(run));
  if (!begun.hasFailed) return;
  const { rev } = run.view;
  await lookAfterFailure(run);
  if (run.view.rev === rev)
    await changed(run, Math.min(failedPauseMinMs * 2 ** begun.failures, failedPauseMaxMs));
}

/**
 * The first pause after a failed activity. It prevents a tight loop if the activity fails permanently, and doubles with
 * each consecutive failure.
 */
const failedPauseMinMs = 1_000;
const failedPauseMaxMs = 300_000;

/**
 * Called if the activity ended without returning the record. A submission in flight then counts as lost, because
 * nothing else shows what the upstream received.
 */
async function lookAfterFailure(run: TaskRun): Promise<void> {
  await lookAtTask(run);
  const { state } = run.view;
  if (state.at !== 'sending') return;
  await stepTask(run, { kind: 'lost', n: state.n, code: 'submission_lost' });
}

/** Cancels the activity, which notices this at its next heartbeat. */
function leave({ work: begun }: TaskRun): void {
  if (begun !== undefined && !begun.isOver) begun.scope.cancel();
}

/** Cancels the previous activity and waits for it to end. Returns false if the record changes first. */
async function isFree(run: TaskRun): Promise<boolean> {
  const former = run.work;
  if (former === undefined) return true;
  leave(run);
  if (!former.isOver) await ended(run, former);
  return former.isOver;
}
