import { healthOf } from '../health/channel-health.ts';
import type { ChannelHealth, HealthChannel, WaitingTasks } from '../health/channel-health.ts';
import { defined } from '../base/defined.ts';
import { createSharedRead } from '../base/shared-read.ts';
import type { Logger } from '../observability/log.ts';
import type { Stores } from '../store/stores.ts';
import type { TaskCount } from '../task/census.ts';
import { serviceOf } from '../task/service.ts';

export interface HealthDeps {
  readonly stores: Pick<Stores, 'circuits' | 'channelStates' | 'nodes'>;
  readonly config: () => { readonly channels: readonly HealthChannel[] };
  readonly now: () => number;
}

interface ReaderDeps extends HealthDeps {
  readonly stores: HealthDeps['stores'] & Pick<Stores, 'tasks'>;
  readonly log: Logger;
}

/** The waiting tasks are counted at most once in this time, however many requests ask for them. */
const waitingCountedMs = 5_000;

/** Creates a process's reader of health. `waiting` is undefined if the tasks cannot be counted. */
export function createHealthReader(deps: ReaderDeps): () => Promise<readonly ChannelHealth[]> {
  const { stores, log, now } = deps;
  const count = createSharedRead(() => stores.tasks.countUnfinished(), { ms: waitingCountedMs, now });
  return async () => {
    const counted = await count().catch((err: unknown) => {
      log.warn({ err }, 'the waiting tasks of channels could not be counted');
      return undefined;
    });
    return readHealth(deps, counted);
  };
}

/**
 * Reads the health of every configured channel, from the reports of all processes. `counted` holds the counts of
 * unfinished tasks, or undefined if they could not be counted.
 */
export async function readHealth(
  { stores, config, now }: HealthDeps,
  counted: readonly TaskCount[] | undefined,
): Promise<readonly ChannelHealth[]> {
  const [circuits, switches, nodes, lastServed] = await Promise.all([
    stores.circuits.list(),
    stores.channelStates.list(),
    stores.nodes.list(),
    stores.nodes.lastServed(),
  ]);
  const { unserved } = serviceOf(nodes, lastServed);
  const facts = {
    circuits,
    nodes,
    switchOf: (channel: string) => switches.find(({ id }) => id === channel),
    unserved,
    waitingAt: (channel: string) => counted && waitingAt(channel, counted),
    now: now(),
  };
  return config().channels.map((channel) => healthOf(channel, facts));
}

const notSubmitted: ReadonlySet<TaskCount['state']> = new Set(['creating', 'queued', 'pausing']);

function waitingAt(channel: string, counted: readonly TaskCount[]): WaitingTasks {
  const rows = counted.filter((row) => row.channel === channel && notSubmitted.has(row.state));
  const since = rows.map((row) => row.since);
  const oldest = since.length === 0 ? undefined : Math.min(...since);
  return { tasks: rows.reduce((sum, { count }) => sum + count, 0), ...defined({ oldest }) };
}
