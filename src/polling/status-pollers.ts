import type { RateLimiter } from '../capacity/rate-limiter.ts';
import type { RouteCandidate } from '../task/candidates.ts';
import type { TaskKind } from '../base/task-kind.ts';
import { jobOf } from '../flight/exchange-recorder.ts';
import type { ExchangeRecorder } from '../flight/exchange-recorder.ts';
import { ChannelGoneError, taskProviderFor } from '../routing/channels.ts';
import type { Channels } from '../routing/channels.ts';
import { callbackBase } from '../routing/callback-base.ts';
import { createStatusPoller } from './status-poller.ts';
import type { StatusPoller } from './status-poller.ts';

export interface ChannelPoller extends StatusPoller {
  callsBack(): boolean;
}

/** All jobs with the same channel, credential and kind share one poller in this process. */
export function createStatusPollers({
  channels,
  limiter,
  recorder,
  now,
  publicUrl,
}: {
  readonly channels: Channels;
  readonly limiter: (perSecond: () => number) => RateLimiter;
  /** An adapter that polls many jobs at once does not know their tasks, so this code informs the recorder. */
  readonly recorder: Pick<ExchangeRecorder, 'own'>;
  readonly now: () => number;
  readonly publicUrl?: string;
}): (candidate: RouteCandidate, kind: TaskKind) => ChannelPoller {
  const known = new Map<string, ChannelPoller>();

  function open({ channel: id, credential }: RouteCandidate, kind: TaskKind): ChannelPoller {
    const first = channels(id);
    const provider = first === undefined ? undefined : taskProviderFor(first.provider, kind);
    if (first === undefined || provider === undefined) throw new ChannelGoneError(id);
    /** Falls back to the initial configuration if the channel has since been removed. */
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
