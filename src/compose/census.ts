import { periods } from '../base/periods.ts';
import { createDuty } from '../capacity/duty.ts';
import type { Rounds } from '../process/rounds.ts';
import type { Core } from './core.ts';
import { ledgerCollection } from '../ledger/collection.ts';
import { readLedgerTotals } from '../ledger/totals.ts';
import { createCensusTaker } from '../observability/census.ts';
import { takeCensus } from '../observability/take-census.ts';

export function startCensus(core: Core): Rounds {
  const { metrics, mongo, stores, log, now } = core;
  const ledger = ledgerCollection(mongo.db);
  const census = createCensusTaker({
    ...metrics,
    duty: createDuty({ name: 'census', duties: stores.duties, silenceMs: 3 * periods.census.everyMs, now }),
    async take() {
      const taken = await takeCensus({ ...core, ledgerTotals: () => readLedgerTotals(ledger) });
      core.notices.noteAttention(taken.attention);
      return taken;
    },
    onError: (err) =>
      log.warn({ err }, 'the counts for the metrics could not be taken; retrying in the next round'),
  });
  census.start(core.pace);
  return census;
}
