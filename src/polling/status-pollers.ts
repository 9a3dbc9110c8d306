import type { RateLimiter } from '../capacity/rate-limiter.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { TaskKind } from '../base/task-kind.ts';
import { jobOf, type ExchangeRecorder } from '../flight/exchange-recorder.ts';
import { ChannelGoneError, taskProviderFor, type Channels } from '../routing/channels.ts';
import { callbackBase } from '../routing/callback-base.ts';
import { createStatusPoller, type StatusPoller } from './status-poller.ts';

export interface ChannelPoller extends StatusPoller {
  callsBack(): boolean;
}

/** All jobs with the same channel, credential and kind share one poller in this process. */
export function createStatusPollers({
  channels,
  limiter,
  recorder,
  monotonic,
  publicUrl,
}: {
  readonly channels: Channels;
  readonly limiter: (perSecond: () => number) => RateLimiter;
  /** Gets the tasks of the polled jobs, because an adapter that polls many jobs at once does not know them. */
  readonly recorder: Pick<ExchangeRecorder, 'own'>;
  readonly monotonic: () => number;
  readonly publicUrl?: string;
}): (candidate: RouteCandidate, kind: TaskKind) => ChannelPoller {
  const known = new Map<string, ChannelPoller>();
  const limiters = new Map<string, RateLimiter>();

  /** The jobs of both kinds share the limit of their credential. */
  function limiterOf({ channel: id, credential }: RouteCandidate, perSecond: () => number): RateLimiter {
    const key = `${id}/${credential}`;
    const shared = limiters.get(key) ?? limiter(perSecond);
    limiters.set(key, shared);
    return shared;
  }

  function open(candidate: RouteCandidate, kind: TaskKind): ChannelPoller {
    const { channel: id, credential } = candidate;
    const read = () => {
      const channel = channels(id);
      const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
      return channel === undefined || provider === undefined ? undefined : { ...channel, provider };
    };
    const first = read();
    if (first === undefined) throw new ChannelGoneError(id);
    /** The channel's current configuration and adapter, or the first ones if the channel has since been removed. */
    const current = () => read() ?? first;
    const poller = createStatusPoller({
      provider: () => current().provider,
      context: (model, signal) => current().context(credential, model, signal),
      limiter: limiterOf(candidate, () => current().config.limits.polls_per_second),
      monotonic,
      timeoutMs: () => current().config.timeouts.poll_ms,
    });
    return {
      ...poller,
      callsBack: () => {
        const { config, provider } = current();
        return callbackBase(config, provider, publicUrl) !== undefined;
      },
      status(job, signal) {
        const disown = recorder.own(jobOf(id, job.operation), job.task);
        return poller.status(job, signal).finally(disown);
      },
    };
  }

  return (candidate, kind) => {
    const key = `${candidate.channel}/${candidate.credential}/${kind}`;
    const poller = known.get(key) ?? open(candidate, kind);
    known.set(key, poller);
    return poller;
  };
}
