import type { KeyCaps } from '../money/caps.ts';
import type { KeyScope } from '../base/key-scope.ts';
import type { PriceFactors } from '../money/price-factors.ts';

export interface KeyHolder extends Caller {
  readonly scopes: readonly KeyScope[];
  /** CIDR ranges. If undefined, the key works from any IP address. */
  readonly addresses?: readonly string[];
  /** If undefined, the key's scopes alone decide which operations are allowed. */
  readonly routes?: readonly string[];
}

export interface Caller {
  readonly account: string;
  /** The id under which limits are counted. A replacement key keeps the id of the first key in the chain. */
  readonly key: string;
  readonly seesAccount?: boolean;
  readonly secondsMax?: number;
  readonly resolutionMax?: string;
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  readonly assetUrls?: boolean;
  readonly strict?: boolean;
  readonly endUserRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  readonly caps?: KeyCaps;
}

export interface Buyer extends Caller {
  readonly factors: PriceFactors;
}
