import { ApplicationFailure, Context } from '@temporalio/activity';
import { attemptId, markerOf } from '../src/domain/ids.ts';
import { racePoint } from '../src/domain/race-point.ts';
import { atConcurrencyLimit } from '../src/domain/routing.ts';
import type { SubmitRefusal } from '../src/capacity/submit-gate.ts';
import { UpstreamError } from '../src/providers/provider.ts';
import type { Submitted } from '../src/providers/provider.ts';
import { ChannelGoneError } from '../src/routing/channels.ts';
import type { RequestRecord } from '../src/store/requests.ts';
import { createAttend } from './attend.ts';
import { accept, adopt, newAttempt, resume } from './attempt-record.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { noteWait } from './note-wait.ts';
import { mayCallBack, openTarget } from './open-target.ts';
import type { UpstreamTarget } from './open-target.ts';
import { persistently } from './persistently.ts';
import { closeAttempt, retryOrLeave, recordRefusal, recordStall } from './submit-answer.ts';
import type { Claim } from './submit-answer.ts';
import type { SubmitInput, SubmitResult } from './types.ts';

/**
 * A worker that stood still for this long between its claim and its request does not send it: the server misses its
 * heartbeat after 15 s (a minute, if the submission is attended), and another process decides then.
 */
const stalledMs = 8_000;

/** Everything that a request needs, ready before the record says `sending`. */
interface Submission {
  readonly input: SubmitInput;
  readonly stored: RequestRecord;
  readonly target: UpstreamTarget;
}

/**
 * One submission, at most once: the attempt's record is read before a repeated run does anything, claimed before the
 * request leaves and written again when the answer is read. A repeated run of this activity never posts what may have been accepted.
 * An attended submission then waits for the end of its job.
 */
export function createSubmit(deps: ChannelActivityDeps) {
  const { attempts, requests } = deps;

  const { attend, resumed } = createAttend(deps);

  return async function submit(input: SubmitInput): Promise<SubmitResult> {
    const submitted = (await resumed(input)) ?? (await submitOnce(input));
    return attend(submitted, input);
  };

  async function submitOnce(input: SubmitInput): Promise<SubmitResult> {
    // Of the first run of the first attempt there is hardly ever a record; where there is, the claim collides with it.
    const mayHaveBegun = isRepeated() || input.n > 1;
    const [begun, stored] = await Promise.all([
      mayHaveBegun ? attempts.find(attemptId(input.task, input.n)) : undefined,
      requests.find(input.task),
    ]);
    if (begun !== undefined && begun.state !== 'not_accepted') return resume(begun, input, deps);
    const earlier = begun === undefined ? await jobOfEarlierAttempt(input) : undefined;
    if (earlier !== undefined) return earlier;
    if (stored === undefined) return refuseWithoutRequest(input);
    const target = targetOf(input, deps);
    if (target instanceof ChannelGoneError) {
      return retryOrLeave(input, { code: 'channel_gone', message: target.message }, deps);
    }
    const refusal = await deps.gate.enter({ ...input, submitMs: target.config.timeouts.submit_ms });
    if (refusal !== undefined) return refuseForNow(refusal, input, deps);
    const waitMs = await joinQueue(input);
    if (waitMs !== undefined) {
      await noteWait(input, 'turn', deps);
      throw waitForTurn(waitMs);
    }
    if (isRepeated() || input.n > 1) await noteWait(input, undefined, deps);
    return post({ input, stored, target });
  }

  /** An attempt is closed for good before the next one is made; if it was accepted, its job is the task's. */
  async function jobOfEarlierAttempt(input: SubmitInput): Promise<SubmitResult | undefined> {
    if (input.n === 1) return undefined;
    const earlier = await attempts.supersede(attemptId(input.task, input.n - 1));
    if (earlier?.state !== 'accepted' || earlier.operation === undefined) return undefined;
    return adopt(earlier, { operation: earlier.operation }, { input, deps });
  }

  async function refuseWithoutRequest(input: SubmitInput): Promise<SubmitResult> {
    const failure = { code: 'request_missing', message: 'The request document is gone.' };
    const record = await attempts.withdraw(newAttempt(input), failure);
    if (record.state !== 'withdrawn') return resume(record, input, deps);
    await deps.tasks.recordOutcome(input.task, { kind: 'failed', ...failure });
    return { kind: 'rejected', code: failure.code };
  }

  function joinQueue({ task, account, candidate }: SubmitInput): Promise<number | undefined> {
    const { cancellationSignal } = Context.current();
    return deps.submitLimiter(candidate).enter({ task, account, isBack: isRepeated() }, cancellationSignal);
  }

  async function post({ input, stored, target }: Submission): Promise<SubmitResult> {
    const id = attemptId(input.task, input.n);
    const claim: Claim = { id, owner: ownerName(deps), input, deps };
    const begun = await withHeartbeat(
      persistently(() => attempts.begin(newAttempt(input), claim.owner), deps.now),
    );
    if (begun !== undefined) {
      deps.submitLimiter(input.candidate).giveBack();
      return resume(begun, input, deps);
    }
    const begunAt = deps.now();
    await racePoint('submit.begun', id);
    if (deps.now() - begunAt > stalledMs) return recordStall(claim);
    // From here on nothing interrupts: not a cancellation, not a shutdown. The answer must be read.
    const answer = await withHeartbeat(send({ input, stored, target }));
    await racePoint('submit.answered', id);
    const { task, model, candidate } = input;
    void deps.gate.report(
      { ...candidate, task, model },
      answer instanceof UpstreamError ? answer : undefined,
    );
    if (answer instanceof UpstreamError) return recordRefusal(claim, answer);
    // Only this process knows the id of a job that is billed: it is recorded twice, and the write is repeated until it
    // succeeds.
    return withHeartbeat(
      persistently(() => accept(answer, input, deps), deps.now),
      { operation: answer.operation },
    );
  }

  async function send({ input, stored, target }: Submission): Promise<Submitted | UpstreamError> {
    const { provider, config } = target;
    try {
      return await provider.submit(stored.request, {
        ...target.context(AbortSignal.timeout(config.timeouts.submit_ms)),
        marker: markerOf(input),
        remainingSeconds: Math.max(1, Math.floor((input.deadlineAt - deps.now()) / 1000)),
        ...(mayCallBack(config, provider, deps.publicUrl)
          ? { callbackUrl: `${deps.publicUrl}/callbacks/upstream/${input.task}/${stored.callbackToken}` }
          : {}),
      });
    } catch (error) {
      if (error instanceof UpstreamError) return error;
      deps.log.error({ task: input.task, err: error }, 'an adapter failed in the middle of a submission');
      return new UpstreamError('ambiguous', 'The adapter failed.', { code: 'adapter_failed', cause: error });
    }
  }
}

/** Whether the activity has run before: a reset counts attempts from 1 again, but not from its first time. */
function isRepeated(): boolean {
  const { attempt, currentAttemptScheduledTimestampMs, scheduledTimestampMs } = Context.current().info;
  return attempt > 1 || currentAttemptScheduledTimestampMs !== scheduledTimestampMs;
}

/** Its turn comes later: the wait is a timer on the server and occupies nothing here. */
function waitForTurn(waitMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: `the channel's submissions per second are used; next look in ${Math.ceil(waitMs / 1000)} s`,
    type: 'WaitsForItsTurn',
    nextRetryDelay: waitMs,
    category: 'BENIGN',
  });
}

/** Names this run of the activity, so that a write whose outcome was lost is recognised as its own. */
function ownerName({ now, random }: Pick<ChannelActivityDeps, 'now' | 'random'>): string {
  return `${now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
}

function targetOf(input: SubmitInput, deps: ChannelActivityDeps): UpstreamTarget | ChannelGoneError {
  try {
    return openTarget(deps, input);
  } catch (error) {
    if (error instanceof ChannelGoneError) return error;
    throw error;
  }
}

/** The channel is full, or its circuit is open. Nothing is sent. */
async function refuseForNow(
  refusal: SubmitRefusal,
  input: SubmitInput,
  deps: ChannelActivityDeps,
): Promise<SubmitResult> {
  switch (refusal.kind) {
    case 'elsewhere': {
      const code = atConcurrencyLimit;
      const record = await closeAttempt(input, { code, message: 'Another channel has room.' }, deps);
      return record ?? { kind: 'not_accepted', code };
    }
    case 'circuit_open':
      return retryOrLeave(
        input,
        { code: 'circuit_open', message: refusal.detail, retryAfterMs: refusal.retryAfterMs },
        deps,
      );
    case 'full':
      await noteWait(input, 'slot', deps);
      throw ApplicationFailure.create({
        message: 'every channel of the plan is at its concurrency limit; the task waits for its turn',
        type: 'AtConcurrencyLimit',
        nextRetryDelay: refusal.ms,
        category: 'BENIGN',
      });
    default:
      return refusal satisfies never;
  }
}
