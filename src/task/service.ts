import { defined } from '../base/defined.ts';
import type { RouteCandidate } from './candidates.ts';
import { openTo } from './rounds.ts';
import { attemptAt, isIdle, isSubmitting, isUnfinished } from './state.ts';
import type { Task } from './record.ts';

/** What is known of the workers: which channels they serve now, and when each was served last. */
export interface Service {
  /** False while workers run and none of them serves the channel. */
  readonly isServed: (channel: string) => boolean;
  /** Of a channel; without one, of what any worker does. Undefined: a running worker serves it. */
  readonly unserved: (channel?: string) => Unserved | undefined;
}

/** The facts outside its record that explain a task's situation. */
export interface Surroundings extends Pick<Service, 'unserved'> {
  /** Whether the newest configuration lacks the channel or the credential. */
  readonly isGone: (candidate: RouteCandidate) => boolean;
}

export interface Unserved {
  /** Absent: no worker runs at all. */
  readonly channel?: string;
  /** When it was served last: Unix milliseconds, by MongoDB's clock. Absent: never. */
  readonly since?: number;
}

/** A process of the gateway. */
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

export interface NextStep {
  /** Absent: any worker takes it. */
  readonly channel?: string;
}

/** The channels that decide when the task continues: that of its job, or all that it may be submitted to. */
export function channelsAhead(task: Pick<Task, 'state' | 'attempts' | 'plan'>): readonly string[] {
  const { state, attempts } = task;
  if (!isUnfinished(state)) return [];
  if (isSubmitting(state) || state.at === 'pausing')
    return [...new Set(openTo(task).map(({ channel }) => channel))];
  const job = attemptAt(state, attempts)?.channel;
  return job === undefined ? [] : [job];
}

type Going = Pick<Task, 'state' | 'attempts'>;

/** Whose turn it is with the task; undefined: it has ended. */
export function nextStep({ state, attempts }: Going): NextStep | undefined {
  if (!isUnfinished(state)) return undefined;
  if (isIdle(state)) return defined({ channel: state.left[0]?.channel });
  const isAtChannel = state.at === 'waiting' || (state.at === 'sending' && state.stop === undefined);
  return isAtChannel ? defined({ channel: attemptAt(state, attempts)?.channel }) : {};
}
