import { createHmac } from 'node:crypto';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { isTerminal } from '../src/domain/task.ts';
import type { CallbackActivityDeps } from './deps.ts';

const answerWithinMs = 10_000;
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
/** Delay after each failed attempt; then it is given up. */
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
 * anything else is tried again on a schedule of hours; 410 stops.
 */
export function createDeliverCallback(deps: CallbackActivityDeps) {
  return async function deliverCallback(taskId: string): Promise<void> {
    const [task, stored] = await Promise.all([deps.tasks.find(taskId), deps.requests.find(taskId)]);
    const url = stored?.callbackUrl;
    if (task === undefined || url === undefined) return;
    if (!isTerminal(task.status)) throw new Error('a callback is for a task that has ended');
    const body = deps.present(task);
    const at = deps.now();
    const headers = signedHeaders({ id: taskId, at, body, secrets: await deps.webhookSecrets(task.account) });
    const answer = await post(deps, { url, headers, body });
    const failed = retryDelaysMs[Context.current().info.attempt - 1];
    const delivered = answer.status !== undefined && answer.status >= 200 && answer.status < 300;
    const final = answer.status === statusGone || failed === undefined;
    await deps.deliveries.record(
      taskId,
      new URL(url).origin,
      { at, duration_ms: deps.now() - at, ...answer },
      delivered ? 'delivered' : final ? 'gave_up' : 'pending',
    );
    if (delivered) return;
    throw ApplicationFailure.create({
      message: `the caller's address answered ${answer.status ?? answer.error ?? 'nothing'}`,
      type: 'CallbackFailed',
      nonRetryable: final,
      category: 'BENIGN',
      ...(failed === undefined ? {} : { nextRetryDelay: Math.round(failed * (0.9 + 0.2 * Math.random())) }),
    });
  };
}

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function post(
  deps: CallbackActivityDeps,
  delivery: Post,
): Promise<{ status?: number; error?: string }> {
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

/** Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, one signature a secret, newest first. */
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
