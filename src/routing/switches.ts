import type { ChannelConfig } from '../config/gateway-file.ts';
import type { DroppedChannel } from '../task/candidates.ts';
import type { Pace } from '../process/pace.ts';
import { createSnapshot } from '../store/snapshot.ts';
import type { ChannelState, ChannelStateStore } from '../store/channel-states.ts';

/** Operators' channel switches, as this process last read them: routing asks memory, never the database. */
export interface ChannelSwitches {
  /** Reads them once; rejects when MongoDB does not answer. */
  refresh(): Promise<void>;
  /** Reads them every few seconds until `stop`. */
  start(pace: Pace): void;
  stop(): void;
  find(channel: string): ChannelState | undefined;
  /** For the catalogue's `outage`: why the channel accepts no new tasks; undefined: no operator switched it off. */
  outage(channel: ChannelConfig): DroppedChannel | undefined;
}

export interface ChannelSwitchesDeps {
  readonly states: Pick<ChannelStateStore, 'list'>;
  /** A failed read keeps the last known switches. */
  readonly onError: (error: unknown) => void;
}

export function createChannelSwitches(deps: ChannelSwitchesDeps): ChannelSwitches {
  const { refresh, start, stop, find } = createSnapshot<ChannelState>({
    list: () => deps.states.list(),
    intervalMs: 3_000,
    onError: deps.onError,
  });
  return {
    refresh,
    start,
    stop,
    find,
    outage(channel) {
      const state = find(channel.id);
      return state === undefined || state.enabled
        ? undefined
        : { channel: channel.id, reason: 'disabled', detail: 'is switched off by an operator' };
    },
  };
}
