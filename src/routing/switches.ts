import { periods } from '../base/periods.ts';
import type { ChannelConfig } from '../config/gateway-file.ts';
import type { DroppedChannel } from '../task/candidates.ts';
import type { Pace } from '../process/pace.ts';
import { createSnapshot } from '../store/snapshot.ts';
import type { ChannelState, ChannelStateStore } from '../store/channel-states.ts';

export interface ChannelSwitches {
  refresh(): Promise<void>;
  start(pace: Pace): void;
  stop(): void;
  find(channel: string): ChannelState | undefined;
  /** Undefined unless an operator has switched the channel off. The catalogue uses this as `outage`. */
  outage(channel: ChannelConfig): DroppedChannel | undefined;
}

export interface ChannelSwitchesDeps {
  readonly states: Pick<ChannelStateStore, 'list'>;
  readonly onError: (error: unknown) => void;
}

export function createChannelSwitches(deps: ChannelSwitchesDeps): ChannelSwitches {
  const { refresh, start, stop, find } = createSnapshot<ChannelState>({
    list: () => deps.states.list(),
    period: periods.switches,
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
