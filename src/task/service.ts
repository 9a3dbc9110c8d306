import { defined } from '../base/defined.ts';
import type { TaskKind } from '../base/task-kind.ts';
import type { RouteCandidate } from './candidates.ts';
import { openTo } from './rounds.ts';
import { attemptAt, isIdle, isSubmitting, isUnfinished } from './state.ts';
import type { Task } from './record.ts';

/** The channels that workers currently serve, and when each was last served. */
export interface Service {
  /** Returns true for every channel if no worker is running. */
  readonly isServed: (channel: string) => boolean;
  /**
   * Returns undefined if a running worker serves the channel. Without a channel, considers only the steps that any
   * worker can take.
   */
  readonly unserved: (channel?: string) => Unserved | undefined;
}

export interface Surroundings extends Pick<Service, 'unserved'> {
  /** Whether the channel or the credential is missing from the newest configuration. */
  readonly isGone: (candidate: RouteCandidate) => boolean;
  /** Whether the running configuration offers no way to search the upstream for a job. */
  readonly isUnsearchable: (at: { readonly channel: string; readonly kind: TaskKind }) => boolean;
  /** Whether the caller's request has been deleted, given the retention in the running configuration. */
  readonly isForgotten: (task: Pick<Task, 'deadlineAt'>) => boolean;
}

export interface Unserved {
  /** Absent if no worker is running at all. */
  readonly channel?: string;
  /** When the channel was last served, in Unix milliseconds by MongoDB's clock. Absent if it was never served. */
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

/** Returns the channel of the task's job, or every channel that the task may be submitted to. */
export function channelsAhead(task: Pick<Task, 'state' | 'attempts' | 'plan'>): readonly string[] {
  const { state, attempts } = task;
  if (!isUnfinished(state)) return [];
  if (isSubmitting(state) || state.at === 'pausing')
    return [...new Set(openTo(task).map(({ channel }) => channel))];
  const job = attemptAt(state, attempts)?.channel;
  return job === undefined ? [] : [job];
}

/**
 * Returns the channel that must take the task's next step, or an empty object if any worker can take the step. Returns
 * undefined if the task has ended.
 */
export function nextStep(task: Pick<Task, 'state' | 'attempts'>): Pick<Unserved, 'channel'> | undefined {
  const { state, attempts } = task;
  if (!isUnfinished(state)) return undefined;
  if (isIdle(state)) return defined({ channel: state.left[0]?.channel });
  const isAtChannel = state.at === 'waiting' || (state.at === 'sending' && state.stop === undefined);
  return isAtChannel ? defined({ channel: attemptAt(state, attempts)?.channel }) : {};
}
