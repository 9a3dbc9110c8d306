import { webhookHeaders } from '../access/webhook-signature.ts';
import type { Secrets } from '../access/secrets.ts';
import type { Sealed } from '../base/sealed.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import { callbackRetryDelayMs, callbackStateAfter, callbackTriesMax } from '../task/callback-retries.ts';

/** An event that an account's address has not accepted yet. */
export interface OwedEvent {
  readonly id: string;
  readonly account: string;
  readonly address: Sealed;
  /** Requests that were begun. */
  readonly tries: number;
  readonly type: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly data: object;
  /** What is left to do; undefined: nothing. False: another process has begun it since it had `seenTries`. */
  readonly change: (seenTries: number, left: EventTries | undefined) => Promise<boolean>;
}

export interface EventTries {
  readonly tries: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
}

export interface PostEventDeps {
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  readonly open: Secrets['open'];
  /** To addresses that callers have chosen. */
  readonly deliver: GuardedClient['deliver'];
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now: () => number;
  readonly random: () => number;
}

const answerWithinMs = 10_000;
/** A request whose process died is repeated then, under the same id. */
const unansweredMs = 60_000;
const unreported = 'an event could not be delivered to its account';

/** Never rejects: what was not delivered is due again. */
export function createPostEvent({ log, now, random, ...deps }: PostEventDeps) {
  return async (event: OwedEvent): Promise<void> => {
    const { account, type } = event;
    const tries = event.tries + 1;
    const dueAt = now() + unansweredMs;
    try {
      if (tries > callbackTriesMax) {
        log.error({ account, kind: type }, unreported);
        return void (await event.change(event.tries, undefined));
      }
      const means = await meansOf(event).catch(async (error: unknown) => {
        // What cannot be read uses up no request.
        await event.change(event.tries, { tries: event.tries, dueAt });
        throw error;
      });
      // Counted before it leaves: a process that dies leaves a request that is repeated.
      if (!(await event.change(event.tries, { tries, dueAt }))) return;
      const state = callbackStateAfter(await send(event, means), tries);
      if (state === 'gave_up') log.error({ account, kind: type }, unreported);
      const retried = { tries, dueAt: now() + callbackRetryDelayMs(tries, random()) };
      await event.change(tries, state === 'pending' ? retried : undefined);
    } catch (err) {
      log.warn({ account, kind: type, err }, 'an event could not be posted');
    }
  };

  /** What a request needs that is kept under a key. */
  async function meansOf({ account, address }: OwedEvent) {
    const url = deps.open({ purpose: 'alert-address', id: account }, address);
    return { url, secrets: await deps.webhookSecrets(account) };
  }

  /** Undefined: there was no answer. */
  async function send(
    { id, type, at, data }: OwedEvent,
    { url, secrets }: Awaited<ReturnType<typeof meansOf>>,
  ): Promise<number | undefined> {
    const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'mediary-event/1',
      ...webhookHeaders({ id, at: now(), body, secrets }),
    };
    try {
      return (await deps.deliver({ url, headers, body, timeoutMs: answerWithinMs })).status;
    } catch {
      return undefined;
    }
  }
}
