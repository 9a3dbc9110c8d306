import { Context } from '@temporalio/activity';
import { upstreamIdTaken } from '../src/task/attention.ts';
import { defined } from '../src/base/defined.ts';
import { attemptId } from '../src/base/ids.ts';
import { racePoint } from '../src/base/race-point.ts';
import type { Task, TaskOutcome } from '../src/task/record.ts';
import { splitWords, withoutCallersField } from '../src/flight/split-words.ts';
import type { GenerationRequest } from '../src/models/request.ts';
import { inputUnreadable } from '../src/task/failures.ts';
import { isSubmitting, type EventOf } from '../src/task/state.ts';
import type { Submitted, UpstreamError } from '../src/providers/provider.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { elapsedBefore, later } from './activity-time.ts';
import type { NoLength } from './measure.ts';
import { noteWait } from './note-wait.ts';
import { persistently, stepTo } from './persistently.ts';
import type { SubmitInput } from './types.ts';

const retryDelayMinMs = 1_000;
const retryDelayMaxMs = 60_000;
/** If the plan has other channels, the round's last one is retried for this long before the next round begins. */
const lastCandidatePersistMs = 300_000;

export interface Sent {
  readonly input: SubmitInput;
  readonly task: Task;
  readonly n: number;
  readonly owner: string;
  readonly request: GenerationRequest;
}

export interface Accepted extends Submitted {
  readonly outcome?: TaskOutcome;
}

/**
 * Records that the upstream accepted the submission. The returned record also shows whether the job is still wanted.
 */
export async function recordAcceptance(
  { task, n, owner }: Pick<Sent, 'task' | 'n' | 'owner'>,
  { operation, traceId, outcome }: Accepted,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const event = { kind: 'accepted', n, operation, ...defined({ traceId, outcome }) } as const;
  const stepped = await persistently(() => deps.tasks.step(task.id, event), deps);
  if (!stepped.ok && stepped.code === 'job_taken') {
    deps.log.error(
      { task: task.id, upstream_id: operation.id },
      'an upstream returned the id of a job that belongs to another task',
    );
    const message = `The upstream accepted the submission, but returned the job ${operation.id}, which belongs to another task.`;
    const taken = { code: upstreamIdTaken, message, taken: true } as const;
    return stepTo(task, { kind: 'lost', n, owner, ...taken }, deps);
  }
  const after = stepped.task ?? task;
  await racePoint('submit.accepted', attemptId(task.id, n));
  const attempt = after.attempts.find((one) => one.n === n);
  if (attempt?.stray !== undefined) {
    deps.log.error(
      { task: task.id, channel: attempt.channel, upstream_id: attempt.stray.id },
      'an upstream accepted a submission after its task had continued without it; cancel the job there',
    );
  }
  return after;
}

export async function recordStall(sent: Sent, deps: ChannelActivityDeps): Promise<Task> {
  const message = 'The worker hung before it sent the request, so nothing was sent.';
  const word = { code: 'worker_stalled', message, stays: true };
  const after = await stepTo(sent.task, notAccepted(sent, word), deps);
  if (!isSubmitting(after.state)) return after;
  throw later('WorkerStalled', message);
}

export async function recordRefusal(
  sent: Sent,
  error: UpstreamError,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const { n, owner, task, input } = sent;
  const { code } = error;
  const { message, messageToCaller } = splitWords(error.words, sent.request);
  const word = { code, message };
  switch (error.outcome) {
    case 'not_sent':
    case 'throttled':
    case 'unavailable':
      return retryOrLeave({ input, task, n, owner }, { ...word, retryAfterMs: error.retryAfterMs }, deps);
    case 'rejected': {
      const failure = withoutCallersField(error.failure, sent.request);
      const own = defined({ messageToCaller });
      const elapsedMs = elapsedBefore();
      return stepTo(task, { kind: 'rejected', n, owner, ...word, ...own, failure, elapsedMs }, deps);
    }
    case 'ambiguous':
      return stepTo(task, { kind: 'lost', n, owner, ...word }, deps);
    default:
      return error.outcome satisfies never;
  }
}

/**
 * Records that the channel needs the length of the input videos, which the gateway could not read. The task fails only
 * if the videos are at fault and every channel in the plan needs the length.
 */
export function recordNoLength(
  { input, task }: Pick<Sent, 'input' | 'task'>,
  why: NoLength,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const { plan, state, inputNeededBy } = task;
  const code = inputUnreadable;
  const isNeeded = plan.candidates.every(({ channel }) => inputNeededBy?.includes(channel) === true);
  // If this submission replaces a failed job, report that job's error instead.
  const isReplacing = isSubmitting(state) && state.replaces === true;
  if (why === 'unread' || !isNeeded || isReplacing) {
    const message = 'The length of an input video could not be read.';
    return retryOrLeave({ input, task }, { code, message, wait: { cause: 'files', code } }, deps);
  }
  const message =
    'The price depends on the length of an input video, which the gateway could not read. Upload the video to /v1/files, or provide a readable link.';
  const failure = { class: 'invalid_input', field: 'videos' } as const;
  return stepTo(task, { kind: 'rejected', code, message, failure }, deps);
}

type Refusing = Pick<Sent, 'input' | 'task'> & Partial<Pick<Sent, 'n' | 'owner'>>;

type Word = Pick<EventOf<'not_accepted'>, 'code' | 'message' | 'stays' | 'full' | 'retryAfterMs' | 'wait'>;

export function notAccepted({ input, n, owner }: Refusing, word: Word): EventOf<'not_accepted'> {
  const { candidate } = input;
  const elapsedMs = elapsedBefore();
  return { kind: 'not_accepted', candidate, ...defined({ n, owner }), ...word, elapsedMs };
}

/** Set `wait` if the submission is delayed by something other than the upstream's response. */
interface Refused extends Pick<Word, 'code' | 'message' | 'wait'> {
  readonly retryAfterMs?: number | undefined;
}

/** Tries the same channel again later, or moves on to another one. A retry adds no events to the workflow's history. */
export async function retryOrLeave(
  refusing: Refusing,
  refused: Refused,
  deps: ChannelActivityDeps,
): Promise<Task> {
  const { task } = refusing;
  const { code, message, retryAfterMs } = refused;
  const { attempt } = Context.current().info;
  // Ignore a delay of zero, because following it would cause a request every second.
  const asked = retryAfterMs === 0 ? undefined : retryAfterMs;
  const wished = Math.max(asked ?? 0, retryDelayMinMs * 2 ** Math.min(attempt, 6));
  const spread = asked === undefined ? 0.8 + 0.4 * deps.random() : 1 + 0.2 * deps.random();
  const delay = Math.min(wished, asked ?? retryDelayMaxMs) * spread;
  const stays = delay < leftHereMs(task, deps) && !(await hasRoomElsewhere(task, deps));
  const isChange = !stays || refusing.n !== undefined;
  const retryMs = Math.max(Math.round(delay), retryDelayMinMs);
  const wait = {
    ...(refused.wait ?? { cause: asked === undefined ? 'upstream' : 'backoff', code }),
    ...refusing.input.candidate,
    until: deps.now() + retryMs,
  } as const;
  const word = { code, message, stays, wait, ...defined({ retryAfterMs: asked }) };
  const after = isChange ? await stepTo(task, notAccepted(refusing, word), deps) : task;
  if (!stays || !isSubmitting(after.state)) return after;
  // If an attempt had begun, the write that ended it has already recorded the wait.
  if (refusing.n === undefined) await noteWait(after, wait, deps);
  // If an attempt had begun, the message may quote the upstream, so log only the code: upstream text must not enter the
  // workflow's history.
  const why = refusing.n === undefined ? message : code;
  throw later('NotAccepted', `the channel does not accept the job at the moment (${why}); retrying`, retryMs);
}

/** Returns how long the task may keep trying this channel, or 0 if another channel comes next. */
function leftHereMs({ plan, state, deadlineAt }: Task, { now }: Pick<ChannelActivityDeps, 'now'>): number {
  if (!isSubmitting(state) || state.left.length > 1) return 0;
  const remainingMs = deadlineAt - now();
  if (plan.candidates.length === 1 && state.replaces === undefined) return remainingMs;
  return Math.min(lastCandidatePersistMs - elapsedBefore(), remainingMs);
}

async function hasRoomElsewhere(task: Task, { gate }: ChannelActivityDeps): Promise<boolean> {
  const { state, id, model } = task;
  return isSubmitting(state) && gate.anyHasRoom({ task: id, model }, state.full);
}
