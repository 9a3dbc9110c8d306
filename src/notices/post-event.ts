import type { Secrets } from '../access/secrets.ts';
import type { Sealed } from '../base/sealed.ts';
import type { HostPlaces } from '../capacity/host-places.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { Logger } from '../observability/log.ts';
import { within } from '../process/running-time.ts';
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
   * Records the next delivery. If `left` is undefined, no delivery remains. Resolves to false if another process has
   * started a delivery since `seenTries` was read.
   */
  readonly change: (seenTries: number, left: EventTries | undefined) => Promise<boolean>;
}

export interface EventTries {
  readonly tries: number;
  readonly dueAt: number;
}

export interface PostEventDeps {
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  readonly open: Secrets['open'];
  readonly takePlace: HostPlaces['take'];
  readonly deliver: GuardedClient['deliver'];
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now: () => number;
  readonly random: () => number;
}

/** Most receivers respond within this time. The round does not wait longer for the others. */
const roundWaitMs = 2_000;
/** If a process dies during a delivery, the event is due again after this time, with the same id. */
const unansweredMs = 60_000;
const unreported = 'an event could not be delivered to its account';

/** `post` waits only briefly, so that a receiver that hangs does not delay later rounds. */
export function createEventPosts(deps: PostEventDeps) {
  const postEvent = createPostEvent(deps);
  const inFlight = new Map<string, Promise<void>>();
  return {
    async post(events: readonly OwedEvent[]): Promise<void> {
      for (const event of events.filter(({ id }) => !inFlight.has(id)))
        inFlight.set(
          event.id,
          postEvent(event).finally(() => inFlight.delete(event.id)),
        );
      const late = () => new Error('the round is over');
      await within(roundWaitMs, Promise.all(inFlight.values()), late).catch(() => undefined);
    },
    end: async (): Promise<void> => void (await Promise.all(inFlight.values())),
  };
}

/** Never rejects. An event that was not delivered becomes due again. */
function createPostEvent({ log, now, random, ...deps }: PostEventDeps) {
  return async (event: OwedEvent): Promise<void> => {
    const { account, type } = event;
    const tries = event.tries + 1;
    try {
      if (tries > callbackTriesMax) {
        log.error({ account, kind: type }, unreported);
        return void (await event.change(event.tries, undefined));
      }
      const means = await meansOf(event).catch(async (error: unknown) => {
        // A failure to decrypt is not a delivery, so the number of tries stays the same.
        await event.change(event.tries, { tries: event.tries, dueAt: now() + unansweredMs });
        throw error;
      });
      // Wait for a free place at the host first, because waiting behind other requests must not use up a delivery.
      const place = await deps.takePlace(new URL(means.url).origin, account);
      if (!place.isGranted)
        return void (await event.change(event.tries, { tries: event.tries, dueAt: now() + place.afterMs }));
      const answer = await send(event, { tries, means }).finally(() => place.leave());
      if (answer === undefined) return;
      const state = callbackStateAfter(answer.status, tries);
      if (state === 'gave_up') log.error({ account, kind: type }, unreported);
      const retried = { tries, dueAt: now() + callbackRetryDelayMs(tries, random()) };
      await event.change(tries, state === 'pending' ? retried : undefined);
    } catch (err) {
      log.warn({ account, kind: type, err }, 'an event could not be posted');
    }
  };

  async function send(event: OwedEvent, { tries, means }: Sending) {
    // Count the delivery before sending it, so that the event becomes due again if this process dies.
    if (!(await event.change(event.tries, { tries, dueAt: now() + unansweredMs }))) return undefined;
    return sendEvent({ ...event, ...means }, { deliver: deps.deliver, now });
  }

  async function meansOf({ account, address }: OwedEvent) {
    const url = deps.open({ purpose: 'alert-address', id: account }, address);
    return { url, secrets: await deps.webhookSecrets(account) };
  }
}

interface Sending {
  readonly tries: number;
  readonly means: { readonly url: string; readonly secrets: readonly string[] };
}
