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

/**
 * Creates a function that returns the poller for a channel, credential and kind of task. All their jobs in this process
 * share this poller.
 */
export function createStatusPollers({
  channels,
  limiter,
  recorder,
  now,
  publicUrl,
}: {
  readonly channels: Channels;
  readonly limiter: (perSecond: () => number) => RateLimiter;
  /**
   * Is informed which task each polled job belongs to, because an adapter that polls many jobs at once does not know.
   */
  readonly recorder: Pick<ExchangeRecorder, 'own'>;
  readonly now: () => number;
  readonly publicUrl?: string;
}): (candidate: RouteCandidate, kind: TaskKind) => ChannelPoller {
  const known = new Map<string, ChannelPoller>();

  function open({ channel: id, credential }: RouteCandidate, kind: TaskKind): ChannelPoller {
    const first = channels(id);
    const provider = first === undefined ? undefined : taskProviderFor(first.provider, kind);
    if (first === undefined || provider === undefined) throw new ChannelGoneError(id);
    /** The channel's current configuration, or the initial one if the channel has since been removed. */
    const channel = () => channels(id) ?? first;
    const poller = createStatusPoller({
      provider,
      context: (model, signal) => channel().context(credential, model, signal),
      limiter: limiter(() => channel().config.limits.polls_per_second),
      now,
      timeoutMs: () => channel().config.timeouts.poll_ms,
    });
    return {
      ...poller,
      callsBack: () => callbackBase(channel().config, provider, publicUrl) !== undefined,
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
