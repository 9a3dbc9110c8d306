import { callbackRetryDelayMs } from '../src/task/callback-retries.ts';
import { ownCallbackRound } from '../src/base/ids.ts';
import type { PromptCall, PromptHosts } from '../src/capacity/prompt-hosts.ts';
import { answerWithinMs, createCallbackRequests } from './deliver-callback.ts';
import type { OwedCallback } from './deliver-callback.ts';
import type { CallbackActivityDeps } from './deps.ts';
import type { FirstCallback } from './types.ts';

/** A workflow task, and what else that workflow has to say, waits for the receiver this long. */
const promptMs = 1_500;
/** From the handing over of a request that is still unanswered: it may wait for a connection, and then for its answer. */
const unansweredMs = 2 * answerWithinMs + 5_000;

export interface FirstCallbackDeps extends CallbackActivityDeps {
  readonly promptHosts: PromptHosts;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * The first request of a callback, in the worker that ended the task: it costs no activity. Only for hosts of which a
 * prompt answer is expected; all others, and every later request, are the `deliverCallback` activity's. Both count
 * and record their requests in the same document, so the schedule continues where this leaves it. A request that is
 * not answered at once is not cut off: it records its own answer, and the activity finds it there.
 */
export function createFirstCallback(deps: FirstCallbackDeps) {
  const { findOwed, send } = createCallbackRequests(deps);

  const dueIn = (ms: number) => ({ state: 'pending', dueAt: deps.now() + ms }) as const;
  const dueAfter = (n: number) => dueIn(callbackRetryDelayMs(n, Math.random()));

  return async function firstCallback(task: string): Promise<FirstCallback> {
    const owed = await findOwed(task).catch(() => 'unknown' as const);
    if (owed === undefined) return { state: 'delivered' };
    const call =
      owed === 'unknown' ? undefined : deps.promptHosts.enter(new URL(owed.url).origin, owed.account);
    if (owed === 'unknown' || call === undefined) return { state: 'pending' };
    const unanswered = deps.sleep(promptMs).then(() => dueIn(unansweredMs));
    return Promise.race([sendPromptly(owed, call), unanswered]);
  };

  async function sendPromptly(owed: OwedCallback, call: PromptCall): Promise<FirstCallback> {
    const since = deps.now();
    let wasPrompt = false;
    try {
      const sent = await send(owed, ownCallbackRound);
      wasPrompt = sent?.state === 'delivered' && deps.now() - since < promptMs;
      // An earlier run of this step has delivered it, or an operator's redelivery is at work.
      if (sent === undefined) return { state: 'delivered' };
      return sent.state === 'pending' ? dueAfter(sent.n) : { state: sent.state };
    } catch {
      // The database did not answer, and the request may have left.
      return dueAfter(1);
    } finally {
      call.leave(wasPrompt);
    }
  }
}
