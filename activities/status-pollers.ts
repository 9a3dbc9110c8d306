import type { RateLimiter } from '../src/capacity/rate-limiter.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { TaskKind } from '../src/domain/task.ts';
import { ChannelGoneError, taskProviderFor } from '../src/routing/channels.ts';
import type { Channels } from '../src/routing/channels.ts';
import { mayCallBack } from './open-target.ts';
import { createStatusPoller } from './status-poller.ts';
import type { StatusPoller } from './status-poller.ts';

/** One poller for each channel, credential and kind of task, shared by all of their jobs in this process. */
export function createStatusPollers({
  channels,
  limiter,
  now,
  publicUrl,
}: {
  readonly channels: Channels;
  readonly limiter: (perSecond: number) => RateLimiter;
  readonly now: () => number;
  readonly publicUrl?: string;
}): (candidate: RouteCandidate, kind: TaskKind) => StatusPoller {
  const known = new Map<string, StatusPoller>();

  function open({ channel: id, credential }: RouteCandidate, kind: TaskKind): StatusPoller {
    const channel = channels(id);
    const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
    if (channel === undefined || provider === undefined) throw new ChannelGoneError(id);
    const poller = createStatusPoller({
      provider,
      context: (model, signal) => (channels(id) ?? channel).context(credential, model, signal),
      limiter: limiter(channel.config.limits.polls_per_second),
      now,
      timeoutMs: channel.config.timeouts.poll_ms,
    });
    return { ...poller, callsBack: () => mayCallBack(channel.config, provider, publicUrl) };
  }

  return (candidate, kind) => {
    const key = `${candidate.channel}/${candidate.credential}/${kind}`;
    const poller = known.get(key) ?? open(candidate, kind);
    known.set(key, poller);
    return poller;
  };
}
