import type { Census, LedgerTotals } from '../reports/census.ts';
import type { HealthChannel } from '../health/channel-health.ts';
import { defined } from '../base/defined.ts';
import type { Logger } from './log.ts';
import type { Stores } from '../store/stores.ts';
import { countForHealth, readHealth, type HealthDeps } from './read-health.ts';

export interface CensusDeps {
  readonly stores: HealthDeps['stores'] & Pick<Stores, 'tasks' | 'slots' | 'resultCopies' | 'verifications'>;
  readonly ledgerTotals: () => Promise<LedgerTotals>;
  readonly config: () => { readonly currency: string; readonly channels: readonly CountedChannel[] };
  readonly log: Pick<Logger, 'warn'>;
  readonly now: () => number;
}

interface CountedChannel extends HealthChannel {
  readonly limits: { readonly concurrent_tasks?: number | undefined };
}

/** Runs only a few indexed queries, whose cost does not grow with the number of finished tasks. */
export async function takeCensus({ stores, ledgerTotals, config, log, now }: CensusDeps): Promise<Census> {
  const { channels, currency } = config();
  const { tasks, resultCopies } = stores;
  const [counted, attention, money, held, callbacks, retry, gaveUp, verification] = await Promise.all([
    countForHealth(tasks, log),
    tasks.countAttention(),
    ledgerTotals(),
    stores.slots.held(),
    tasks.countCallbacks(),
    resultCopies.count('retry'),
    resultCopies.count('gave_up'),
    stores.verifications.last(),
  ]);
  const limited = channels.filter(({ limits }) => limits.concurrent_tasks !== undefined);
  return {
    at: now(),
    currency,
    tasks: counted.unfinished,
    attention,
    money,
    slots: limited.map(({ id, limits, credentials }) => ({
      channel: id,
      inUse: held.filter(({ queue }) => channelOf(queue) === id).length,
      limit: (limits.concurrent_tasks ?? 0) * credentials.length,
    })),
    health: await readHealth({ stores, config, now }, counted),
    callbacks,
    copies: [
      { state: 'retry', count: retry },
      { state: 'gave_up', count: gaveUp },
    ],
    ...defined({ verification }),
  };
}

function channelOf(id: string): string {
  return id.slice(0, id.indexOf('/'));
}
