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
  /** How many requests were begun. */
  readonly tries: number;
  readonly type: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly data: object;
  /** Writes what is left to do, or undefined for nothing. False if another process has begun since `seenTries`. */
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
/** If a process dies during a request, it is repeated after this time under the same id. */
const unansweredMs = 60_000;
const unreported = 'an event could not be delivered to its account';

/** Never rejects: an event that was not delivered becomes due again. */
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
        // An event that cannot be decrypted does not use up a request.
        await event.change(event.tries, { tries: event.tries, dueAt });
        throw error;
      });
      // The request is counted before it is sent, so that it is repeated if this process dies.
      if (!(await event.change(event.tries, { tries, dueAt }))) return;
      const state = callbackStateAfter(await send(event, means), tries);
      if (state === 'gave_up') log.error({ account, kind: type }, unreported);
      const retried = { tries, dueAt: now() + callbackRetryDelayMs(tries, random()) };
      await event.change(tries, state === 'pending' ? retried : undefined);
    } catch (err) {
      log.warn({ account, kind: type, err }, 'an event could not be posted');
    }
  };

  /** Decrypts what a request needs. */
  async function meansOf({ account, address }: OwedEvent) {
    const url = deps.open({ purpose: 'alert-address', id: account }, address);
    return { url, secrets: await deps.webhookSecrets(account) };
  }

  /** Returns undefined if there was no answer. */
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
