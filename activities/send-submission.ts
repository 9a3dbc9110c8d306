import type { Send } from '../src/capacity/through-circuits.ts';
import { callbackAddress } from '../src/task/callback-address.ts';
import { costTermsOf } from '../src/money/cost-terms.ts';
import { defined } from '../src/base/defined.ts';
import { attemptId, markerOf } from '../src/base/ids.ts';
import { racePoint } from '../src/base/race-point.ts';
import type { Task } from '../src/task/record.ts';
import { attemptAt } from '../src/task/state.ts';
import { UpstreamError, type Submitted } from '../src/providers/provider.ts';
import type { RequestRecord } from '../src/store/requests.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { callbackBase } from '../src/routing/callback-base.ts';
import type { UpstreamTarget } from './open-target.ts';
import { stepTo } from './persistently.ts';
import { recordAcceptance, recordRefusal, recordStall, type Accepted, type Sent } from './submit-answer.ts';
import { renderAtOnce, type AnswersAtOnce } from './render-at-once.ts';

/**
 * If this worker stalls for longer than this between claiming and sending a submission, it does not send it. After a
 * minute without heartbeats, the server hands the task to another process.
 */
const stalledMs = 8_000;

interface Submission extends Pick<Sent, 'input' | 'task'> {
  readonly stored: RequestRecord;
  readonly target: UpstreamTarget;
  readonly atOnce?: AnswersAtOnce | undefined;
  readonly inputSeconds?: number | undefined;
  readonly report: Parameters<Send<Task>>[0];
}

/**
 * Records `sending` before the request and the outcome afterwards. If nothing was sent, the rate limit gets its token
 * back.
 */
export function createSend(deps: ChannelActivityDeps) {
  return async function send(submission: Submission): Promise<Task> {
    let isSent = false;
    try {
      return await sendWith(submission, () => (isSent = true));
    } finally {
      if (!isSent) deps.submitLimiter(submission.input.candidate).giveBack();
    }
  };

  async function sendWith(submission: Submission, onSend: () => void): Promise<Task> {
    const { input, task, target, inputSeconds, report } = submission;
    const { candidate } = input;
    const owner = ownerName(deps);
    const n = task.attempts.length + 1;
    const terms = costTermsOf(target.config, task.model, deps.currency());
    const marker = markerOf({ task: task.id, n });
    const known = defined({ inputSeconds });
    const event = { kind: 'sending', candidate, owner, marker, terms, ...known } as const;
    // Start measuring before the claim, because this process may stall between the write and its acknowledgement.
    const begunAt = deps.now();
    const begun = await stepTo(task, event, deps);
    const attempt = begun.state.at === 'sending' ? attemptAt(begun.state, begun.attempts) : undefined;
    if (attempt?.owner !== owner) return begun;
    const { request: asked } = submission.stored;
    const sent: Sent = { input, task: begun, n: attempt.n, owner, request: asked };
    const id = attemptId(task.id, attempt.n);
    await racePoint('submit.begun', id);
    if (deps.now() - begunAt > stalledMs) return recordStall(sent, deps);
    onSend();
    // From here on, ignore cancellation and shutdown, because the response must be read.
    const answer = await withHeartbeat(answerTo(submission, attempt.marker));
    await racePoint('submit.answered', id);
    report(answer instanceof UpstreamError ? answer : undefined);
    if (answer instanceof UpstreamError) return recordRefusal(sent, answer, deps);
    // Only this process knows the id of the new job. The heartbeat details therefore carry it as well, and the write is
    // repeated until it succeeds. Images in the response are too large for a heartbeat, so they are left out.
    const { operation, outcome } = answer;
    const remembered = outcome === undefined ? { n: attempt.n, operation } : undefined;
    return withHeartbeat(recordAcceptance(sent, answer, deps), remembered);
  }

  async function answerTo(submission: Submission, marker: string): Promise<Accepted | UpstreamError> {
    const { task, input, atOnce } = submission;
    try {
      return atOnce === undefined
        ? await request(submission, marker)
        : await renderAtOnce({ ...atOnce, task, candidate: input.candidate, marker }, deps);
    } catch (error) {
      if (error instanceof UpstreamError) return error;
      deps.log.error({ task: task.id, err: error }, 'an adapter failed in the middle of a submission');
      return new UpstreamError('ambiguous', 'The adapter failed.', { code: 'adapter_failed', cause: error });
    }
  }

  function request({ task, stored, target }: Submission, marker: string): Promise<Submitted> {
    const { provider, config } = target;
    const base = callbackBase(config, provider, deps.publicUrl);
    return provider.submit(stored.request, {
      ...target.context(config.timeouts.submit_ms),
      marker,
      remainingSeconds: Math.max(1, Math.floor((task.deadlineAt - deps.now()) / 1000)),
      ...defined({ callbackUrl: base && callbackAddress(base, task.id, stored.callbackToken) }),
    });
  }
}

/** Names this activity run, so that it recognizes its own write if the acknowledgement was lost. */
function ownerName({ now, random }: Pick<ChannelActivityDeps, 'now' | 'random'>): string {
  return `${now().toString(36)}-${Math.floor(random() * 2 ** 52).toString(36)}`;
}
