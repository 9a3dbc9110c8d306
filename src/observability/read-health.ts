import { healthOf, waitingOf } from '../health/channel-health.ts';
import type { BehindCount, ChannelHealth, HealthChannel, WaitingTasks } from '../health/channel-health.ts';
import { createSharedRead } from '../base/shared-read.ts';
import type { Logger } from './log.ts';
import type { Stores } from '../store/stores.ts';
import { unsubmittedStates, type TaskCount } from '../reports/census.ts';
import { serviceOf } from '../task/service.ts';

export interface HealthDeps {
  readonly stores: Pick<Stores, 'circuits' | 'channelStates'> & {
    readonly nodes: Pick<Stores['nodes'], 'list' | 'lastServed'>;
  };
  readonly config: () => { readonly channels: readonly HealthChannel[] };
  readonly now: () => number;
}

interface ReaderDeps extends HealthDeps {
  readonly stores: HealthDeps['stores'] & Pick<Stores, 'tasks'>;
  readonly log: Logger;
}

/** Limits how often waiting tasks are counted, however many requests ask for the count. */
const waitingCountedMs = 5_000;

export function createHealthReader(deps: ReaderDeps): () => Promise<readonly ChannelHealth[]> {
  const { stores, log, now } = deps;
  const count = createSharedRead(() => countForHealth(stores.tasks, log), { ms: waitingCountedMs, now });
  return async () => {
    const counted = await count().catch((err: unknown) => {
      log.warn({ err }, 'the waiting tasks of channels could not be counted');
      return undefined;
    });
    return readHealth(deps, counted);
  };
}

/** Counts waiting tasks only if a circuit is not closed. */
export function createCircuitReader(deps: ReaderDeps): () => Promise<readonly ChannelHealth[]> {
  const readCounted = createHealthReader(deps);
  return async () => {
    const channels = await readHealth(deps, undefined);
    const isServing = channels.every(({ parts }) => parts.every(({ state }) => state === 'serving'));
    return isServing ? channels : readCounted();
  };
}

interface HealthCounts {
  readonly unfinished: readonly TaskCount[];
  readonly behind: readonly BehindCount[] | undefined;
}

export async function countForHealth(
  tasks: Pick<Stores['tasks'], 'countUnfinished' | 'countBehind'>,
  log: Pick<Logger, 'warn'>,
): Promise<HealthCounts> {
  const behindCircuits = tasks.countBehind().catch((err: unknown) => {
    log.warn({ err }, 'the tasks that are waiting for circuits to close could not be counted');
    return undefined;
  });
  const [unfinished, behind] = await Promise.all([tasks.countUnfinished(), behindCircuits]);
  return { unfinished, behind };
}

export async function readHealth(
  { stores, config, now }: HealthDeps,
  counted: HealthCounts | undefined,
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
    waitingAt: (channel: string) => counted && waitingAt(channel, counted.unfinished),
    behind: counted?.behind,
    now: now(),
  };
  return config().channels.map((channel) => healthOf(channel, facts));
}

const notSubmitted: ReadonlySet<TaskCount['state']> = new Set(unsubmittedStates);

function waitingAt(channel: string, counted: readonly TaskCount[]): WaitingTasks {
  return waitingOf(counted.filter((row) => row.channel === channel && notSubmitted.has(row.state)));
}
