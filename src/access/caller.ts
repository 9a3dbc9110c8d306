import type { KeyCaps } from '../money/caps.ts';
import type { KeyScope } from '../base/key-scope.ts';

/** Who is calling: what authentication found out about the key. */
export interface KeyHolder extends Caller {
  readonly scopes: readonly KeyScope[];
  /** CIDRs that it may be used from. Absent: any address. */
  readonly addresses?: readonly string[];
  /** Operations that it may use. Absent: all that its scopes open. */
  readonly routes?: readonly string[];
}

/** Whose tasks are created, and what they may be. */
export interface Caller {
  readonly account: string;
  /** Public id of the key: of a key that replaced another one, the first one's. Limits count by it. */
  readonly key: string;
  /** May see what other keys of the account created. Absent: not. */
  readonly seesAccount?: boolean;
  /** Of a video that it may ask for. */
  readonly secondsMax?: number;
  /** Of what it may ask for, as `1080p`. */
  readonly resolutionMax?: string;
  /** Absent: all. */
  readonly models?: readonly string[];
  readonly channels?: readonly string[];
  /** May name assets in an upstream account. Absent: not. */
  readonly assetUrls?: boolean;
  readonly requestsPerMinute?: number;
  readonly concurrentTasks?: number;
  /** Absent: none. */
  readonly caps?: KeyCaps;
}
