import { webhookHeaders } from '../access/webhook-signature.ts';
import { systemCodeOf } from '../base/caught.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { CallbackAttempt } from '../task/callback-record.ts';

export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly data: object;
  readonly url: string;
  readonly secrets: readonly string[];
}

const answerWithinMs = 10_000;

/** Never rejects. */
export async function sendEvent(
  { id, type, at, data, url, secrets }: SentEvent,
  { deliver, now }: { readonly deliver: GuardedClient['deliver']; readonly now: () => number },
): Promise<Pick<CallbackAttempt, 'status' | 'error'>> {
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'mediary-event/1',
    ...webhookHeaders({ id, at: now(), body, secrets }),
  };
  try {
    return { status: (await deliver({ url, headers, body, timeoutMs: answerWithinMs })).status };
  } catch (error) {
    return { error: systemCodeOf(error) ?? 'no_answer' };
  }
}
