import type { KeyCaps } from '../money/caps.ts';

/** Who is calling: what authentication found out about the key. */
export interface Caller {
  readonly account: string;
  /** Public id of the key: of a key that replaced another one, the first one's. Limits count by it. */
  readonly key: string;
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
