import type { ApplicationFailure } from '@temporalio/activity';
import type { ChannelConfig } from '../src/config/gateway-file.ts';
import type { GenerationRequest } from '../src/models/request.ts';
import type { Task } from '../src/task/record.ts';
import type { ProviderContext, TaskProvider } from '../src/providers/provider.ts';
import { ChannelGoneError, taskProviderFor } from '../src/routing/channels.ts';
import { hasCredential, servesModel, type RouteCandidate } from '../src/task/candidates.ts';
import type { ChannelActivityDeps } from './deps.ts';
import { later } from './activity-time.ts';
import { timeLimit } from '../src/process/running-time.ts';

export interface UpstreamTarget {
  readonly config: ChannelConfig;
  readonly provider: TaskProvider<GenerationRequest>;
  readonly context: (timeoutMs: number) => ProviderContext;
}

type TargetDeps = Pick<ChannelActivityDeps, 'channels'>;
type Owner = Pick<Task, 'id' | 'kind' | 'model'>;

export function openTarget(
  { channels }: TargetDeps,
  { id: task, kind, model }: Owner,
  { channel: id, credential }: RouteCandidate,
): UpstreamTarget | ChannelGoneError {
  const channel = channels(id);
  const provider = channel === undefined ? undefined : taskProviderFor(channel.provider, kind);
  if (channel === undefined || provider === undefined) return new ChannelGoneError(id);
  if (!hasCredential(channel.config, credential)) return new ChannelGoneError(id, `credential ${credential}`);
  const context = (ms: number) => ({ ...channel.context(credential, model, timeLimit(ms)), task });
  return { config: channel.config, provider, context };
}

/**
 * For a new job. Jobs that exist can be polled and stopped even if the channel no longer serves their model, but a
 * submission would name the wrong upstream model.
 */
export function openToSubmit(
  deps: TargetDeps,
  task: Owner,
  candidate: RouteCandidate,
): UpstreamTarget | ChannelGoneError {
  const target = openTarget(deps, task, candidate);
  return target instanceof ChannelGoneError || servesModel(target.config, task.model)
    ? target
    : new ChannelGoneError(candidate.channel, `model ${task.model}`);
}

/** Throws a retryable failure if the channel is no longer configured, so that the activity waits until it is. */
export function requireTarget(deps: TargetDeps, task: Owner, candidate: RouteCandidate): UpstreamTarget {
  const opened = openTarget(deps, task, candidate);
  if (opened instanceof ChannelGoneError) throw channelGone(opened);
  return opened;
}

/**
 * An operator caused this by changing the configuration, so the failure is benign. The message explains how to undo the
 * change.
 */
export function channelGone({ message }: ChannelGoneError): ApplicationFailure {
  return later('ChannelGone', message);
}
