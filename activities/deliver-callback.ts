import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { ownCallbackRound } from '../src/domain/ids.ts';
import { isTerminal } from '../src/domain/task.ts';
import type { DeliveryState } from '../src/store/deliveries.ts';
import type { CallbackActivityDeps } from './deps.ts';
import { persistently } from './persistently.ts';

/** From the moment the request leaves; the wait for a connection before that has the same limit of its own. */
const answerWithinMs = 10_000;
/** Together with twice the response's time limit, below what the activity may take. */
const recordWithinMs = 10_000;
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** Delay after each failed attempt; after the last one the callback is abandoned. */
const retryDelaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
const statusGone = 410;

/**
 * POSTs what GET answers to the caller's address, signed by the Standard Webhooks specification. 2xx is delivered;
 * anything else is retried on a schedule of hours; 410 stops. The schedule counts requests, not runs of this activity:
 * neither an unavailable database nor a host whose places are taken uses up any of them.
 */
export function createDeliverCallback(deps: CallbackActivityDeps) {
  return async function deliverCallback(taskId: string, round: string = ownCallbackRound): Promise<void> {
    const [task, stored] = await Promise.all([deps.tasks.find(taskId), deps.requests.find(taskId)]);
    const url = stored?.callbackUrl;
    if (task === undefined || url === undefined) return;
    if (!isTerminal(task.status)) throw new Error('a callback is for a task that has ended');
    const body = deps.present(task);
    const secrets = await deps.webhookSecrets(task.account);
    const { origin, hostname } = new URL(url);
    // Before the attempt is counted: waiting for others' requests is not an attempt.
    const place = await deps.places.take(hostname, task.account);
    if (!place.isGranted) throw hostBusyFailure(place.afterMs);
    const attempted = await attempt({ taskId, round, url, body, secrets }).finally(() => place.leave());
    if (attempted === undefined) return;
    const { n, at, answer, durationMs } = attempted;
    const state = stateAfter(answer, n);
    await persistently(
      () =>
        deps.deliveries.record({ task: taskId, round, target: origin }, { at, durationMs, ...answer }, state),
      deps.now,
      recordWithinMs,
    );
    if (state === 'delivered') return;
    const heard = String(answer.status ?? answer.error ?? 'nothing');
    throw state === 'gave_up'
      ? abandonedCallback(heard)
      : retriedCallback(heard, retryDelaysMs[n - 1] ?? hour);
  };

  /** One counted request. Undefined: this round has delivered the callback already, or was replaced. */
  async function attempt({ taskId, round, url, body, secrets }: Attempt): Promise<Attempted | undefined> {
    const n = await deps.deliveries.begin(taskId, round, new URL(url).origin);
    if (n === undefined) return undefined;
    if (n > retryDelaysMs.length + 1) {
      // The last attempt was begun and its process died.
      await deps.deliveries.abandon(taskId, round);
      throw abandonedCallback('no answer');
    }
    const at = deps.now();
    const answer = await post(deps, { url, headers: signedHeaders({ id: taskId, at, body, secrets }), body });
    return { n, at, answer, durationMs: deps.now() - at };
  }
}

interface Attempt {
  readonly taskId: string;
  readonly round: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
}

interface Attempted {
  /** Number of the request in its round, from 1. */
  readonly n: number;
  readonly at: number;
  readonly answer: Answer;
  readonly durationMs: number;
}

type Answer = { readonly status?: number; readonly error?: string };

function stateAfter({ status }: Answer, n: number): DeliveryState {
  if (status !== undefined && status >= 200 && status < 300) return 'delivered';
  return status === statusGone || n > retryDelaysMs.length ? 'gave_up' : 'pending';
}

function retriedCallback(heard: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: `the caller's address answered ${heard}`,
    type: 'CallbackFailed',
    category: 'BENIGN',
    nextRetryDelay: Math.round(delayMs * (0.9 + 0.2 * Math.random())),
  });
}

function hostBusyFailure(afterMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    message:
      'other callbacks to the same host, or of the same account, are in flight; this one has not been attempted yet',
    type: 'CallbackHostBusy',
    category: 'BENIGN',
    nextRetryDelay: afterMs,
  });
}

function abandonedCallback(heard: string): ApplicationFailure {
  return ApplicationFailure.create({
    message: `the caller's address answered ${heard}; the callback was abandoned`,
    type: 'CallbackFailed',
    category: 'BENIGN',
    nonRetryable: true,
  });
}

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function post(deps: CallbackActivityDeps, delivery: Post): Promise<Answer> {
  try {
    return { status: (await deps.post({ ...delivery, timeoutMs: answerWithinMs })).status };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no_answer';
    return { error: code };
  }
}

interface Signed {
  /** Stable over retries: the task's id. */
  readonly id: string;
  readonly at: number;
  readonly body: string;
  readonly secrets: readonly string[];
}

/** Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, one signature per secret, newest first. */
function signedHeaders({ id, at, body, secrets }: Signed): Record<string, string> {
  const timestamp = Math.floor(at / 1000).toString();
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'user-agent': 'mediary-callback/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
