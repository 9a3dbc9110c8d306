import { ApplicationFailure } from '@temporalio/activity';
import { webhookHeaders } from '../src/access/webhook-signature.ts';
import { callbackRetryDelayMs, callbackStateAfter, callbackTriesMax } from '../src/task/callback-retries.ts';
import { systemCodeOf } from '../src/base/caught.ts';
import { defined } from '../src/base/defined.ts';
import { ownCallbackRound } from '../src/base/ids.ts';
import { racePoint } from '../src/base/race-point.ts';
import { isTerminal } from '../src/task/task.ts';
import type { CallbackAttempt, CallbackState } from '../src/task/callback-record.ts';
import type { Task } from '../src/task/record.ts';
import type { CallbackActivityDeps } from './deps.ts';
import { elapsedBefore, later } from './activity-time.ts';
import { persistently } from './persistently.ts';

/**
 * How long the receiver may take to respond once the request has been sent. The wait for a connection has a separate
 * limit of the same length.
 */
export const answerWithinMs = 10_000;
/** How long recording the outcome may take. The activity's timeout must cover this plus twice `answerWithinMs`. */
const recordWithinMs = 10_000;
export const callbackWithinMs = 2 * answerWithinMs + recordWithinMs;

export interface OwedCallback extends Pick<Task, 'account' | 'traceparent'> {
  readonly task: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
}

interface SentCallback {
  /** The attempt's number within the round, starting at 1. */
  readonly n: number;
  readonly state: CallbackState;
  readonly heard: string;
}

/**
 * Sends the body that GET would return, signed according to Standard Webhooks. A 2xx response ends the delivery, and a
 * 410 stops all further requests. Anything else is retried over several hours. The schedule counts requests rather than
 * activity runs, so database outages and busy hosts do not use up retries.
 */
export function createDeliverCallback(deps: CallbackActivityDeps) {
  const { findOwed, send } = createCallbackRequests(deps);

  /**
   * Marks the callback as failing if its request cannot be built, for example because a key is missing. This does not
   * use up a retry.
   */
  async function unsendable(task: string, round: string, err: unknown): Promise<never> {
    const unsent = { at: deps.now(), durationMs: 0, error: 'not_sent' };
    if (!deps.tasks.isOutage(err) && (await deps.tasks.noteUnsent(task, round, unsent)))
      deps.log.error({ task, err }, 'a callback cannot be sent yet');
    throw err;
  }

  return async function deliverCallback(
    task: string,
    round: string = ownCallbackRound,
    waitMs: number = 0,
  ): Promise<void> {
    const leftMs = waitMs - elapsedBefore();
    if (leftMs > 0) {
      const nextIn = `next in ${Math.ceil(leftMs / 1000)} s`;
      throw later('CallbackLater', `the first request was not accepted; ${nextIn}`, leftMs);
    }
    const owed = await findOwed(task).catch((error: unknown) => unsendable(task, round, error));
    if (owed === undefined) return;
    // Wait for a free place before counting the attempt, because a queued callback has not been sent yet.
    const place = await deps.places.take(new URL(owed.url).origin, owed.account);
    if (!place.isGranted) throw later('CallbackHostBusy', hostBusy, place.afterMs);
    const sent = await send(owed, round).finally(() => place.leave());
    if (sent === undefined || sent.state === 'delivered') return;
    if (sent.state === 'gave_up') throw abandonedCallback(sent.heard);
    throw later(
      'CallbackFailed',
      `the caller's address responded with ${sent.heard}`,
      callbackRetryDelayMs(sent.n, Math.random()),
    );
  };
}

const hostBusy =
  'this callback has not been attempted yet, because other callbacks to the same host or for the same account are in flight';

export function createCallbackRequests(deps: CallbackActivityDeps) {
  return { findOwed, send };

  async function findOwed(taskId: string): Promise<OwedCallback | undefined> {
    const [task, stored] = await Promise.all([endedTask(taskId), deps.requests.find(taskId)]);
    const url = stored?.callbackUrl;
    if (task === undefined) return undefined;
    if (url === undefined) {
      // The address was part of the caller's request, which has been deleted, so the callback can no longer be sent.
      await deps.tasks.oweNothing(taskId);
      return undefined;
    }
    if (!isTerminal(task.status)) throw new Error('a callback is for a task that has ended');
    const secrets = await deps.webhookSecrets(task.account);
    const { account, traceparent } = task;
    return { task: taskId, account, url, body: deps.present(task), secrets, ...defined({ traceparent }) };
  }

  /** Only a finished task has a callback, so reread the record if the cached copy shows an unfinished task. */
  async function endedTask(id: string): Promise<Task | undefined> {
    const seen = await deps.tasks.look(id);
    return seen === undefined || isTerminal(seen.status) ? seen : deps.tasks.confirm(id);
  }

  /**
   * Records the attempt before sending the request. Returns undefined if this round has already succeeded or a newer
   * round has replaced it.
   */
  async function send(owed: OwedCallback, round: string): Promise<SentCallback | undefined> {
    const { task, url } = owed;
    const target = new URL(url).origin;
    const n = await deps.tasks.beginCallback({ task, round, target });
    if (n === undefined) return undefined;
    if (n > callbackTriesMax) {
      // The last attempt has no outcome because its process died before recording it.
      await deps.tasks.abandonCallback(task, round);
      return { n, state: 'gave_up', heard: 'no answer' };
    }
    await racePoint('callback.begun', task);
    const at = deps.now();
    const answer = await post(deps, owed, at);
    const state = callbackStateAfter(answer.status, n);
    const durationMs = deps.now() - at;
    await persistently(
      () => deps.tasks.recordCallback({ task, round, target }, { at, durationMs, ...answer }, state),
      { ...deps, maxMs: recordWithinMs },
    );
    return { n, state, heard: String(answer.status ?? answer.error ?? 'nothing') };
  }
}

function abandonedCallback(heard: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: `the caller's address responded with ${heard}; the callback was abandoned`,
    type: 'CallbackFailed',
    category: 'BENIGN',
    nonRetryable: true,
  });
}

async function post(
  deps: CallbackActivityDeps,
  { task, url, body, secrets, traceparent }: OwedCallback,
  at: number,
): Promise<Pick<CallbackAttempt, 'status' | 'error'>> {
  const signed = webhookHeaders({ id: task, at, body, secrets });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'mediary-callback/1',
    ...signed,
    ...defined({ traceparent }),
  };
  try {
    return { status: (await deps.post({ url, headers, body, timeoutMs: answerWithinMs }, task)).status };
  } catch (error) {
    return { error: systemCodeOf(error) ?? 'no_answer' };
  }
}
