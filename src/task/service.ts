import { defined } from '../base/defined.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { RouteCandidate } from './candidates.ts';
import { openTo } from './rounds.ts';
import { attemptAt, isIdle, isSubmitting, isUnfinished } from './state.ts';
import type { Task } from './record.ts';

export interface Service {
  /**
   * If no worker is running at all, returns true for every channel, because the problem is not specific to a channel.
   */
  readonly isServed: (channel: string) => boolean;
  /** Returns undefined if a running worker serves the channel. Without a channel, checks for any worker at all. */
  readonly unserved: (channel?: string) => Unserved | undefined;
}

export interface Surroundings extends Pick<Service, 'unserved'> {
  readonly isGone: (candidate: RouteCandidate) => boolean;
  /** True if the running configuration cannot ask the upstream for a job by its marker. */
  readonly isUnsearchable: (at: { readonly channel: string; readonly kind: TaskKind }) => boolean;
  /** True if the caller's request has been deleted, according to the configured retention. */
  readonly isForgotten: (task: Pick<Task, 'deadlineAt'>) => boolean;
}

export interface Unserved {
  readonly channel?: string;
  /** When a worker last served the channel, in Unix milliseconds by MongoDB's clock. Absent if none ever did. */
  readonly since?: number;
}

interface Node {
  readonly kind: 'api' | 'worker';
  readonly state: 'running' | 'leaving' | 'gone';
  readonly channels?: readonly string[];
}

export function serviceOf(nodes: readonly Node[], lastServed: ReadonlyMap<string, number>): Service {
  const workers = nodes.filter(({ kind, state }) => kind === 'worker' && state === 'running');
  const served = new Set(workers.flatMap(({ channels = [] }) => channels));
  const last = lastServed.size === 0 ? undefined : Math.max(...lastServed.values());
  return {
    isServed: (channel) => workers.length === 0 || served.has(channel),
    unserved(channel = '') {
      const since = lastServed.get(channel);
      if (workers.length === 0) return defined({ since: since ?? last });
      return channel === '' || served.has(channel) ? undefined : { channel, ...defined({ since }) };
    },
  };
}

/**
 * Returns the channel that has the task's job. Without a job, returns all channels to which the task may be submitted.
 */
export function channelsAhead(task: Pick<Task, 'state' | 'attempts' | 'plan'>): readonly string[] {
  const { state, attempts } = task;
  if (!isUnfinished(state)) return [];
  if (isSubmitting(state) || state.at === 'pausing')
    return [...new Set(openTo(task).map(({ channel }) => channel))];
  const job = attemptAt(state, attempts)?.channel;
  return job === undefined ? [] : [job];
}

/** Returns an empty object if any worker can take the step, and undefined if the task has ended. */
export function nextStep(task: Pick<Task, 'state' | 'attempts'>): Pick<Unserved, 'channel'> | undefined {
  const { state, attempts } = task;
  if (!isUnfinished(state)) return undefined;
  if (isIdle(state)) return defined({ channel: state.left[0]?.channel });
  const isAtChannel = state.at === 'waiting' || (state.at === 'sending' && state.stop === undefined);
  return isAtChannel ? defined({ channel: attemptAt(state, attempts)?.channel }) : {};
}
