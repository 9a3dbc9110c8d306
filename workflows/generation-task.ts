import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { TaskView } from '../activities/types.ts';
import type { TaskInput, TaskResult } from '../src/task/input.ts';
import { waitSummaryStart } from '../src/base/queues.ts';
import type { RouteCandidate } from '../src/task/candidates.ts';
import { isAbandoned, stopOf } from '../src/task/state.ts';
import type { Stop, TaskState } from '../src/task/state.ts';
import {
  finishTask, lookAtTask, pollOn, searchJob, stepTask, stopJob, submitOn,
} from './activity-proxies.ts'; // prettier-ignore
import { cancelFromUi, handleActions } from './handle-actions.ts';
import { sendCallback } from './send-callback.ts';
import { changed, isOver, newTaskRun, see, showEnd, waitSummary } from './task-run.ts';
import type { TaskRun, Work } from './task-run.ts';

/**
 * One task, from its record to its callback: does what the record's state asks for, feeds what comes back to the record,
 * and keeps durable time. What it decides is decided by `next` (src/task/next.ts), in the write that records it;
 * so a reset, or a new run, continues from the record. A task that fails completes this workflow; a workflow in status
 * Failed is a bug.
 */
export async function generationTask(input: TaskInput): Promise<TaskResult> {
  const run = newTaskRun(input);
  handleActions(run);
  // A cancellation from the Temporal UI means what the API's cancel means: it must not skip the money.
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(() => cancelFromUi(run)).catch(() => undefined),
  );
  return CancellationScope.nonCancellable(() => runTask(run));
}

async function runTask(run: TaskRun): Promise<TaskResult> {
  await lookAtTask(run);
  const clock = new CancellationScope();
  clock.run(() => keepDeadline(run)).catch(() => undefined);
  while (!isOver(run)) await advance(run);
  clock.cancel();
  leave(run);
  showEnd(run);
  if (run.input.hasCallback && !isAbandoned(run.view.state)) await sendCallback(run);
  await condition(allHandlersFinished);
  await run.lastLocal;
  return resultOf(run);
}

function resultOf({ view: { state, status, charge = '0', error } }: TaskRun): TaskResult {
  if (isAbandoned(state)) return { status: 'abandoned' };
  if (status === 'succeeded') return { status, charge };
  const { code = 'internal_error', class: failure } = error ?? {};
  return { status: 'failed', code, ...(failure === undefined ? {} : { class: failure }) };
}

/**
 * The deadline is an event like others. An operator may move it, before it has passed and after; and what it could not
 * end, such as a charge that was being written and then asked a person, it ends as soon as it can.
 */
async function keepDeadline(run: TaskRun): Promise<void> {
  while (!isOver(run)) {
    const { rev, deadlineAt, concern } = run.view;
    const remainingMs = deadlineAt - Date.now();
    if (remainingMs > 0) {
      // The Timeline of the Temporal UI has nothing else that says why a task waits for its channel.
      const summary = concern === undefined ? deadlineSummary : waitSummary(run);
      await condition(() => run.view.concern !== concern, remainingMs, { summary });
    } else {
      const event = { kind: 'wanted', stop: 'expire', deadlineAt } as const;
      // A step that was begun is never taken back: in a replay it would have happened all the same.
      if (canExpire(run)) await CancellationScope.nonCancellable(() => stepTask(run, event));
      if (run.view.rev === rev) await changed(run);
    }
  }
}

const deadlineSummary = `${waitSummaryStart}for the end of the task, until its deadline at the latest.`;

function canExpire({ view: { state } }: TaskRun): boolean {
  const stop = stopOf(state);
  return state.at !== 'ending' && (stop === undefined || stop === 'cancel');
}

/** One step: whatever the state asks for, until the record changes. */
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
      return waitForPerson(run);
    case 'ending':
      leave(run);
      return finishTask(run);
    case 'review':
      return waitForPerson(run);
    case 'ended':
      return undefined;
    default:
      return view.state satisfies never;
  }
}

/** Counted from here: it was begun by a process that has another clock. What changes nothing about it does not prolong it. */
async function pause(run: TaskRun, { round, ms }: Extract<TaskState, { at: 'pausing' }>): Promise<void> {
  leave(run);
  const begunAt = Date.now();
  for (let { state } = run.view; state.at === 'pausing' && state.round === round; { state } = run.view) {
    const elapsedMs = Date.now() - begunAt;
    if (elapsedMs < ms) await changed(run, ms - elapsedMs, waitSummary(run));
    else await stepTask(run, { kind: 'resumed', elapsedMs });
  }
}

/** While a person is asked, the record is looked at more and more rarely: a worker that was thought dead may write late. */
const personLookMs = { min: 600_000, max: 6 * 3_600_000 };

/** Whatever was under way before concerns what a person is asked about, and must not decide it any more. */
async function waitForPerson(run: TaskRun): Promise<void> {
  const { rev } = run.view;
  leave(run);
  for (let ms = personLookMs.min; run.view.rev === rev; ms = Math.min(2 * ms, personLookMs.max)) {
    await changed(run, ms, waitSummary(run));
    if (run.view.rev === rev) await lookAtTask(run);
  }
}

/** The submission, whose activity then waits for the end of the job, too. */
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

/** A submission that is in flight is always waited for, wherever it went; without an activity, another one takes it on. */
async function awaitSubmission(run: TaskRun): Promise<void> {
  if (isAt(run.work, 'submit', undefined)) return follow(run, run.work);
  const { attempt } = run.view;
  if (attempt === undefined) return awaitAnswer(run);
  const { channel, credential } = attempt;
  return submit(run, { channel, credential });
}

/**
 * How long the task, when it is to end, waits for the answer to a submission in flight before it takes the submission from
 * its worker: one that is dead is noticed in this time, and another one, if its queue is served, says what is known.
 */
const answerPatienceMs = 90_000;

/** The task is to end, and a submission is in flight: its answer decides, if there is anybody who has it. */
async function awaitAnswer(run: TaskRun): Promise<void> {
  const { rev } = run.view;
  const begun = run.work;
  if (isAt(begun, 'submit', undefined)) {
    await ended(run, begun, answerPatienceMs);
    if (run.view.rev !== rev) return;
  }
  // A worker that lives brings its request to an end all the same.
  if ((await isFree(run)) && run.view.rev === rev) await lookAfterFailure(run);
}

async function wait(run: TaskRun): Promise<void> {
  const { task, expectedSeconds } = run.input;
  const channel = run.view.attempt?.channel ?? '';
  if (isAt(run.work, 'submit', channel) || isAt(run.work, 'poll', channel)) return follow(run, run.work);
  const { rev } = run.view;
  return work(run, { activity: 'poll', channel }, () => pollOn(channel).poll({ task, rev, expectedSeconds }));
}

/** The response of a submission is lost: the upstream is asked, and then a person. */
async function search(run: TaskRun, wanted: Stop | undefined): Promise<void> {
  const { task } = run.input;
  const { rev } = run.view;
  if (!(await isFree(run)) || run.view.rev !== rev) return;
  const { findLostJob } = searchJob(wanted !== undefined);
  const looking = begin(run, { activity: 'find', channel: '' }, () => findLostJob(task, rev));
  await ended(run, looking);
  const { state } = run.view;
  if (!looking.isOver || state.at !== 'searching') return;
  // What kept us from the last question may be our own: it is asked again once the record can be read.
  if (state.stop === undefined) await stepTask(run, { kind: 'asked' });
  else if (looking.hasFailed && looking.failures === 0) await lookAtTask(run);
  else await stepTask(run, { kind: 'stopped' });
}

/**
 * The job is not wanted any more. Where the upstream cannot be asked, the task ends without it, but no cancellation
 * succeeds. What fails here is our own, and no reason to end the task sooner than it could be asked again.
 */
async function stop(run: TaskRun, wanted: Stop, isAgain = false): Promise<void> {
  const { rev } = run.view;
  try {
    return see(run, await stopJob(run.input.task, rev));
  } catch {
    if (wanted === 'cancel') return stepTask(run, { kind: 'unstoppable' });
    if (isAgain) return stepTask(run, { kind: 'stopped' });
  }
  await lookAtTask(run);
  if (run.view.rev === rev) await stop(run, wanted, true);
}

function isAt(work: Work | undefined, activity: Work['activity'], channel: string | undefined): work is Work {
  return (
    work?.activity === activity &&
    !work.isOver &&
    !work.scope.consideredCancelled &&
    (channel ?? work.channel) === work.channel
  );
}

/** Begins an activity as soon as the one before it is over: Temporal knows each of its names once. */
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
      (view) => see(run, view),
      () => (begun.hasFailed = true),
    )
    .finally(() => (begun.isOver = true))
    .catch(() => undefined);
  return begun;
}

/** Until the activity is over, or the record has changed meanwhile; or after `ms`. */
async function ended(run: TaskRun, begun: Work, ms?: number): Promise<void> {
  const { rev } = run.view;
  const hasEnded = (): boolean => begun.isOver || run.view.rev !== rev;
  if (ms === undefined) await condition(hasEnded);
  else await condition(hasEnded, ms);
}

async function follow(run: TaskRun, begun: Work): Promise<void> {
  await ended(run, begun);
  if (!begun.hasFailed) return;
  const { rev } = run.view;
  await lookAfterFailure(run);
  if (run.view.rev === rev)
    await changed(run, Math.min(failedPauseMinMs * 2 ** begun.failures, failedPauseMaxMs));
}

/** An activity that fails for good is not begun again in a loop: after this time, doubled with each failure. */
const failedPauseMinMs = 1_000;
const failedPauseMaxMs = 300_000;

/** An activity that ended without a word reveals nothing about what the upstream received. */
async function lookAfterFailure(run: TaskRun): Promise<void> {
  await lookAtTask(run);
  const { state } = run.view;
  if (state.at !== 'sending') return;
  await stepTask(run, { kind: 'lost', n: state.n, code: 'submission_lost' });
}

/** The workflow waits for this activity no longer. It learns of it with its next heartbeat. */
function leave({ work: begun }: TaskRun): void {
  if (begun !== undefined && !begun.isOver) begun.scope.cancel();
}

/** Whether the former activity is over; false: the record has changed before it was. */
async function isFree(run: TaskRun): Promise<boolean> {
  const former = run.work;
  if (former === undefined) return true;
  leave(run);
  if (!former.isOver) await ended(run, former);
  return former.isOver;
}
