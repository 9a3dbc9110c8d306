import { randomBase62, type RandomBytes } from '../base/ids.ts';
import { GatewayError } from '../errors/errors.ts';
import type { GuardedClient } from '../http-client/index.ts';
import type { CallbackAttempt } from '../task/callback-record.ts';
import { sendEvent } from './send-event.ts';

export interface TryCallbackDeps {
  /** Returns undefined if the host or the account has reached its maximum number of requests in flight. */
  readonly takePlace: (origin: string, account: string) => { readonly leave: () => void } | undefined;
  readonly webhookSecrets: (account: string) => Promise<readonly string[]>;
  readonly deliver: GuardedClient['deliver'];
  readonly now: () => number;
  readonly randomBytes: RandomBytes;
}

export type TriedCallback = Pick<CallbackAttempt, 'status' | 'error' | 'durationMs'> & {
  readonly id: string;
};

/** Throws `concurrency_limit_exceeded` if `takePlace` has no place left. */
export type TryCallback = (account: string, url: string) => Promise<TriedCallback>;

const idCharacters = 16;

export function createTryCallback(deps: TryCallbackDeps): TryCallback {
  return async (account, url) => {
    const place = deps.takePlace(new URL(url).origin, account);
    if (place === undefined)
      throw new GatewayError(
        'concurrency_limit_exceeded',
        'Earlier requests to this URL or from this account are still in progress. Try again in a few seconds.',
      );
    try {
      const id = `evt_test_${randomBase62(idCharacters, deps.randomBytes)}`;
      const secrets = await deps.webhookSecrets(account);
      const at = deps.now();
      const answer = await sendEvent({ id, type: 'test', at, data: { account }, url, secrets }, deps);
      return { id, durationMs: deps.now() - at, ...answer };
    } finally {
      place.leave();
    }
  };
}
