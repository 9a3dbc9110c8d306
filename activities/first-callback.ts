import { callbackRetryDelayMs } from '../src/task/callback-retries.ts';
import { ownCallbackRound } from '../src/base/ids.ts';
import type { PromptCall, PromptHosts } from '../src/capacity/prompt-hosts.ts';
import { answerWithinMs, createCallbackRequests, type OwedCallback } from './deliver-callback.ts';
import type { CallbackActivityDeps } from './deps.ts';
import type { FirstCallback } from './types.ts';

/** How long the workflow waits for the receiver. All its other work waits too. */
const promptMs = 1_500;
/**
 * The longest time from handing over a request to its outcome: the wait for a connection plus the wait for the
 * response.
 */
const unansweredMs = 2 * answerWithinMs + 5_000;

export interface FirstCallbackDeps extends CallbackActivityDeps {
  readonly promptHosts: PromptHosts;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Makes a callback's first request in the worker that ended the task, so no extra activity is needed. This applies only
 * to hosts that are expected to respond promptly. The `deliverCallback` activity handles all other hosts and all later
 * requests. All requests are counted and recorded in the same document, so they follow one schedule. A slow request is
 * not cut off: it records its own outcome, which the activity then finds.
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
      // An earlier run of this step has delivered the callback, or an operator's redelivery is in progress.
      if (sent === undefined) return { state: 'delivered' };
      return sent.state === 'pending' ? dueAfter(sent.n) : { state: sent.state };
    } catch {
      // The database did not respond, and the request may have been sent.
      return dueAfter(1);
    } finally {
      call.leave(wasPrompt);
    }
  }
}
