import type { ApplicationFailure } from '@temporalio/activity';
import type { ChannelConfig } from '../src/config/gateway-file.ts';
import type { GenerationRequest } from '../src/domain/request.ts';
import type { RouteCandidate } from '../src/domain/routing.ts';
import type { TaskKind } from '../src/domain/task.ts';
import type { ProviderContext, TaskProvider } from '../src/providers/provider.ts';
import { ChannelGoneError, taskProviderFor } from '../src/routing/channels.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { later } from './later.ts';

/** A candidate with everything that a call to its upstream needs. */
export interface UpstreamTarget {
  readonly config: ChannelConfig;
  readonly provider: TaskProvider<GenerationRequest>;
  readonly context: (signal: AbortSignal) => ProviderContext;
}

type TargetDeps = Pick<ChannelActivityDeps, 'channels'>;
interface Target {
  readonly task: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly candidate: RouteCandidate;
}

/** ChannelGoneError: the running configuration lacks the channel, its credential or its capability. */
export function openTarget(deps: TargetDeps, target: Target): UpstreamTarget | ChannelGoneError {
  try {
    return open(deps, target);
  } catch (error) {
    if (error instanceof ChannelGoneError) return error;
    throw error;
  }
}

function open({ channels }: TargetDeps, { task, candidate, kind, model }: Target): UpstreamTarget {
  const channel = channels(candidate.channel);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
  if (channel === undefined || provider === undefined) throw new ChannelGoneError(candidate.channel);
  const { signal: _, ...facts } = channel.context(candidate.credential, model, new AbortController().signal);
  return { config: channel.config, provider, context: (signal) => ({ ...facts, task, signal }) };
}

/** The same, for activities that are retried until the configuration has the channel again. */
export function requireTarget(deps: TargetDeps, target: Target): UpstreamTarget {
  const opened = openTarget(deps, target);
  if (opened instanceof ChannelGoneError) throw channelGone(opened);
  return opened;
}

/** Whether the upstream is given an address of ours, which it calls when a job changes. */
export function mayCallBack(
  { callbacks }: Pick<ChannelConfig, 'callbacks'>,
  { parseCallback }: Pick<TaskProvider<never>, 'parseCallback'>,
  publicUrl: string | undefined,
): boolean {
  return publicUrl !== undefined && callbacks && parseCallback !== undefined;
}

/** Benign: an operator caused it, and the message says how to undo it. */
export function channelGone({ message }: ChannelGoneError): ApplicationFailure {
  return later('ChannelGone', message);
}
