import type { Secrets } from '../access/secrets.ts';
import type { Sealed } from '../base/sealed.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import { sendEvent } from './send-event.ts';
import { callbackRetryDelayMs, callbackStateAfter, callbackTriesMax } from '../task/callback-retries.ts';

export interface OwedEvent {
  readonly id: string;
  readonly account: string;
  readonly address: Sealed;
  readonly tries: number;
  readonly type: string;
  readonly at: number;
  readonly data: object;
  /**
   * Records what is left to do, or undefined if the event is finished. Resolves with false if another process has
   * started a delivery since `seenTries`.
   */
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
  readonly deliver: GuardedClient['deliver'];
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now: () => number;
  readonly random: () => number;
}

/** If a process dies during a delivery, it is repeated after this time, with the same id. */
const unansweredMs = 60_000;
const unreported = 'an event could not be delivered to its account';

/** Never rejects: an undelivered event becomes due again. */
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
        // A failure to decrypt does not count as a delivery.
        await event.change(event.tries, { tries: event.tries, dueAt });
        throw error;
      });
      // Count the delivery before sending, so that it is repeated if this process dies.
      if (!(await event.change(event.tries, { tries, dueAt }))) return;
      const answer = await sendEvent({ ...event, ...means }, { deliver: deps.deliver, now });
      const state = callbackStateAfter(answer.status, tries);
      if (state === 'gave_up') log.error({ account, kind: type }, unreported);
      const retried = { tries, dueAt: now() + callbackRetryDelayMs(tries, random()) };
      await event.change(tries, state === 'pending' ? retried : undefined);
    } catch (err) {
      log.warn({ account, kind: type, err }, 'an event could not be posted');
    }
  };

  async function meansOf({ account, address }: OwedEvent) {
    const url = deps.open({ purpose: 'alert-address', id: account }, address);
    return { url, secrets: await deps.webhookSecrets(account) };
  }
}
