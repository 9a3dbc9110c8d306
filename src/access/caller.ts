import type { KeyCaps } from '../money/caps.ts';
import type { KeyScope } from '../base/key-scope.ts';

/** Who is calling: what authentication found out about the key. */
export interface KeyHolder extends Caller {
  readonly scopes: readonly KeyScope[];
  /** CIDRs from which the key may be used. Undefined: any address. */
  readonly addresses?: readonly string[];
  /** Operations that the key may call. Undefined: every operation that its scopes allow. */
  readonly routes?: readonly string[];
}

/** The account and key that tasks are created for, and the limits on what may be created. */
export interface Caller {
  readonly account: string;
  /** Public id of the key: of a key that replaced another one, the first one's. Limits count by it. */
  readonly key: string;
  /** Whether the key may see tasks and files that other keys of the account created. */
  readonly seesAccount?: boolean;
  /** The longest video that the key may request, in seconds. */
  readonly secondsMax?: number;
  /** The largest resolution that the key may request, such as `1080p`. */
  readonly resolutionMax?: string;
  /** Absent: all. */
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** May name assets in an upstream account. Absent: not. */
  readonly assetUrls?: boolean;
  /** Whether a field without effect is an error for every request of the key. */
  readonly strict?: boolean;
  /** Whether every create must name its end user. */
  readonly endUserRequired?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  /** Absent: none. */
  readonly caps?: KeyCaps;
}
