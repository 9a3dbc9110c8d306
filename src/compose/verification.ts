import { periods } from '../base/periods.ts';
import { createDuty } from '../capacity/duty.ts';
import { defined } from '../base/defined.ts';
import { headsPlaceOf } from './heads-place.ts';
import type { Core } from './core.ts';
import { createDailyVerification, type DailyVerification } from '../ledger/daily-verification.ts';
import { runLedgerVerification, type LedgerVerification } from '../ledger/run-verification.ts';
import { createPace } from '../ledger/verify-reading.ts';
import type { VerifyResult } from '../ledger/verify.ts';
import { createWorkflowLookup } from '../temporal/workflow-lookup.ts';

type VerifyLedger = (
  options: Pick<LedgerVerification, 'onProgress' | 'signal' | 'pace'>,
) => Promise<VerifyResult>;

export function openVerification(core: Core): VerifyLedger {
  const { mongo, client, stores, secrets, notices, environment, now } = core;
  const workflows = createWorkflowLookup(client, environment.TASK_QUEUE_PREFIX);
  const key = secrets.deriveKey('ledger');
  return async (options) => {
    const startedAt = now();
    const last = await stores.verifications.last();
    const lastSoundAt = last?.violations === 0 ? last.startedAt : undefined;
    const result = await runLedgerVerification({
      ...options,
      db: mongo.db,
      key,
      now,
      ...defined({ lastSoundAt }),
      anchorsHeads: true,
      openPlace: headsPlaceOf(core),
      workflows,
      leases: stores.imageLeases,
    });
    const { violationCount: violations } = result;
    // Do this first. If it fails, the verification is not recorded, and the next one is due after an hour rather than a
    // day.
    await notices.noteVerification(violations);
    await stores.verifications.record({ startedAt, endedAt: now(), violations });
    return result;
  };
}

export function startDailyVerification(core: Core): DailyVerification {
  const verification = openDailyVerification(core);
  verification.start();
  return verification;
}

/** Reads at most the configured number of entries per second, so that tasks are not slowed down. */
export function openDailyVerification(core: Core): DailyVerification {
  const { stores, log, now, config } = core;
  const verify = openVerification(core);
  const silenceMs = 5 * periods.verification.everyMs;
  return createDailyVerification({
    duty: createDuty({ name: 'ledger_verification', duties: stores.duties, silenceMs, now }),
    last: () => stores.verifications.last(),
    async verify(signal) {
      const pace = createPace(config().ledger.verify_documents_per_second, signal);
      const { violationCount: count, outside } = await verify({ signal, pace });
      const unread = outside?.notCompared.length ?? 0;
      if (unread > 0) log.warn({ count: unread }, 'the exported heads of some days could not be read');
      if (count > 0) log.error({ count }, 'the daily verification of the ledger found violations');
      else log.info({ count }, 'the daily verification of the ledger found nothing wrong');
    },
    hour: () => {
      const { verify_hour: hour } = config().ledger;
      return hour === 'off' ? undefined : hour;
    },
    onError: (err) => log.warn({ err }, 'the ledger could not be verified; retrying in an hour'),
    now,
  });
}
