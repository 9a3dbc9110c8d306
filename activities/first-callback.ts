import { callbackRetryDelayMs } from '../src/task/callback-retries.ts';
import { ownCallbackRound } from '../src/base/ids.ts';
import type { PromptCall, PromptHosts } from '../src/capacity/prompt-hosts.ts';
import { answerWithinMs, createCallbackRequests, type OwedCallback } from './deliver-callback.ts';
import type { CallbackActivityDeps } from './deps.ts';
import type { FirstCallback } from './types.ts';

/** A receiver that takes longer than this is not waited for, because the workflow does nothing else in the meantime. */
const promptMs = 1_500;
/**
 * How long a request without a response may take: the wait for a connection, the wait for the response, and a margin.
 */
const unansweredMs = 2 * answerWithinMs + 5_000;

export interface FirstCallbackDeps extends CallbackActivityDeps {
  readonly promptHosts: PromptHosts;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Sends a callback's first request from the worker that ended the task, which avoids an extra activity. This is done
 * only for hosts that usually respond quickly. The `deliverCallback` activity handles all other hosts and all retries.
 * A slow request is not cut off. It records its own outcome, which the activity then finds.
 */
export function createFirstCallback(deps: FirstCallbackDeps) {
  const { findOwed, send } = createCallbackRequests(deps);

  const dueIn = (waitMs: number) => ({ state: 'pending', waitMs }) as const;
  const dueAfter = (n: number) => dueIn(callbackRetryDelayMs(n, Math.random()));

  return async function firstCallback(task: string): Promise<FirstCallback> {
    const owed = await findOwed(task).catch(() => 'unknown' as const);
    if (owed === undefined) return { state: 'delivered' };
    if (owed === 'unknown') return { state: 'pending' };
    const call = deps.promptHosts.enter(new URL(owed.url).origin, owed.account);
    if (call === undefined) return { state: 'pending' };
    const unanswered = deps.sleep(promptMs).then(() => dueIn(unansweredMs));
    return Promise.race([sendPromptly(owed, call), unanswered]);
  };

  async function sendPromptly(owed: OwedCallback, call: PromptCall): Promise<FirstCallback> {
    const since = deps.now();
    let wasPrompt = false;
    try {
      const sent = await send(owed, ownCallbackRound);
      wasPrompt = sent?.state === 'delivered' && deps.now() - since < promptMs;
      // An earlier run has delivered the callback, or an operator has requested a redelivery.
      if (sent === undefined) return { state: 'delivered' };
      return sent.state === 'pending' ? dueAfter(sent.n) : { state: sent.state };
    } catch {
      // The database did not respond, so the request may have been sent. Wait as after a failed first request.
      return dueAfter(1);
    } finally {
      call.leave(wasPrompt);
    }
  }
}
