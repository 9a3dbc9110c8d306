import type { Db } from 'mongodb';
import type { EndUserNames } from './end-user-names.ts';
import type { ErrorTerms } from './error-words.ts';
import { retentionDaysDefault, retentionOf, type RetentionDays } from '../base/retention.ts';
import { createAuditStore } from './audit.ts';
import { createAccountStore } from './accounts.ts';
import { createClockMarks } from './clock-marks.ts';
import { createAccountAlertStore } from './account-alerts.ts';
import { createCapEventStore } from './cap-events.ts';
import { createChannelHealthStore } from './channel-health.ts';
import { createChannelStateStore } from './channel-states.ts';
import { createConfigDraftStore } from './config-drafts.ts';
import { createConfigurationStore } from './configurations.ts';
import { createPartialImageStore } from './partial-images.ts';
import { createDuties } from './duties.ts';
import { createExchangeStore } from './exchanges.ts';
import { createFileUploadStore } from './file-uploads.ts';
import { createFileStore } from './files.ts';
import { createImageLeaseStore } from './image-leases.ts';
import { createKeySlotStore } from './key-slots.ts';
import { createKeyStore } from './keys.ts';
import { createNoticeStore } from './notices.ts';
import { createNodeStore } from './nodes.ts';
import { createOperatorSessionStore } from './operator-sessions.ts';
import { createOperatorStore } from './operators.ts';
import { createRateLimitStore } from './rate-limits.ts';
import { createRenderTimesStore } from './render-times.ts';
import { createRepeatStore } from './repeats.ts';
import { createRequestStore } from './requests.ts';
import { createRollupStore } from './rollups.ts';
import type { Sealing } from './sealed-document.ts';
import { createResultCopyStore } from './result-copies.ts';
import { createShapeChargesStore } from './shape-charges.ts';
import { createSlotStore } from './slots.ts';
import { createStoredBytesStore } from './stored-bytes.ts';
import { createTaskStore } from './tasks.ts';
import { createUpkeepFailureStore } from './upkeep-failures.ts';
import { createVerificationStore } from './verifications.ts';
import { createWakeStore } from './wakes.ts';

export type Stores = ReturnType<typeof createStores>;

export interface StoreSettings extends Sealing {
  readonly endUsers: EndUserNames;
  readonly errorTerms: ErrorTerms;
  /** A changed retention affects only what is written afterwards. */
  readonly retention?: () => RetentionDays;
}

export function createStores(
  db: Db,
  now: () => number,
  { retention, endUsers, errorTerms, ...sealing }: StoreSettings,
) {
  const kept = () => retentionOf(retention?.() ?? retentionDaysDefault);
  const fileUploads = createFileUploadStore(db, now, sealing);
  return {
    tasks: createTaskStore(db, now, { ...sealing, errorTerms }),
    requests: createRequestStore(db, now, { ...sealing, keptMs: () => kept().requestsMs }),
    accounts: createAccountStore(db, endUsers),
    accountAlerts: createAccountAlertStore(db),
    capEvents: createCapEventStore(db, endUsers),
    clockMarks: createClockMarks(db),
    keys: createKeyStore(db, now),
    operators: createOperatorStore(db, now),
    operatorSessions: createOperatorSessionStore(db, now),
    keySlots: createKeySlotStore(db, now),
    duties: createDuties(db),
    exchanges: createExchangeStore(db, now, () => kept().exchangesMs),
    channelStates: createChannelStateStore(db),
    configurations: createConfigurationStore(db, sealing),
    configDrafts: createConfigDraftStore(db, sealing),
    nodes: createNodeStore(db),
    files: createFileStore(db, fileUploads, sealing),
    fileUploads,
    resultCopies: createResultCopyStore(db),
    rollups: createRollupStore(db),
    circuits: createChannelHealthStore(db, now),
    slots: createSlotStore(db, now),
    rateLimits: createRateLimitStore(db),
    renderTimes: createRenderTimesStore(db, now),
    shapeCharges: createShapeChargesStore(db, now),
    partialImages: createPartialImageStore(db, now, sealing),
    storedBytes: createStoredBytesStore(db, now),
    imageLeases: createImageLeaseStore(db),
    repeats: createRepeatStore(db, now, sealing),
    wakes: createWakeStore(db, now),
    upkeepFailures: createUpkeepFailureStore(db, now),
    verifications: createVerificationStore(db),
    notices: createNoticeStore(db),
    audit: createAuditStore(db),
  };
}

/** @throws IndexConflictError */
export async function ensureStoreIndexes(stores: Partial<Stores>): Promise<void> {
  // Wait for all of them to settle, so that no index is still being created when this fails.
  const made = await Promise.allSettled(
    Object.values(stores).map(async (store) => {
      if ('ensureIndexes' in store) await store.ensureIndexes();
    }),
  );
  const failed = made.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
