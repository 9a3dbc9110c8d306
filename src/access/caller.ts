import type { KeyCaps } from '../money/caps.ts';
import type { KeyScope } from '../base/key-scope.ts';
import type { PriceFactors } from '../money/price-factors.ts';

/** A caller authenticated by its key. */
export interface KeyHolder extends Caller {
  readonly scopes: readonly KeyScope[];
  /** The CIDRs from which the key may be used. Undefined allows any address. */
  readonly addresses?: readonly string[];
  /** Operations that the key may call. Undefined allows every operation covered by its scopes. */
  readonly routes?: readonly string[];
}

/** The account and key for which tasks are created, and the limits on what may be created. */
export interface Caller {
  readonly account: string;
  /** The key's public id, or that of the first key in its chain of replacements. Limits are counted under this id. */
  readonly key: string;
  /** Whether the key may see tasks and files created with the account's other keys. */
  readonly seesAccount?: boolean;
  /** The maximum length of a video that the key may request, in seconds. */
  readonly secondsMax?: number;
  /** The maximum resolution that the key may request, such as `1080p`. */
  readonly resolutionMax?: string;
  /** The models that the key may use. Undefined allows all. */
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** Whether the key may reference assets in an upstream account. Defaults to false. */
  readonly assetUrls?: boolean;
  /** Whether a field without effect is an error in all requests made with the key. */
  readonly strict?: boolean;
  /** Whether every create request must name an end user. */
  readonly endUserRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  /** The key's spending caps. Undefined means none. */
  readonly caps?: KeyCaps;
}

/** A caller and its account's prices. Needed only to plan requests. */
export interface Buyer extends Caller {
  readonly factors: PriceFactors;
}
