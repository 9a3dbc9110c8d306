import { setTimeout as sleep } from 'node:timers/promises';
import type { UpkeepStep } from '../../activities/deps.ts';
import { createTidyKeySlots, createTidySlots, type SlotFailure } from '../capacity/slot-upkeep.ts';
import type { Core } from './core.ts';
import { openTrends } from './trends.ts';
import { retentionOf } from '../base/retention.ts';
import { createReleaseDeadLeases } from '../images/leases/release-dead-leases.ts';
import { createHeadAnchors, dailyAnchors } from '../ledger/anchored-heads.ts';
import { dailyExport } from '../ledger/outside-heads.ts';
import { headsPlaceOf } from './heads-place.ts';
import { createRemovalMarks } from '../ledger/removal-marks.ts';
import { createUploads, type Uploads } from '../media/uploads.ts';
import { createDeleteAccounts } from '../commands/delete-account.ts';
import { createRemoveTasks } from '../commands/remove-tasks.ts';
import { createTaskRetention } from '../commands/task-retention.ts';
import type { IsOver } from '../base/walk.ts';

/** Returns the steps in order of execution. The steps for tasks are not included. */
export function upkeepOf(core: Core): UpkeepStep[] {
  const { stores, health, mongo, secrets, log, now } = core;
  const anchors = createHeadAnchors(mongo.db, secrets.deriveKey('ledger'));
  const openPlace = headsPlaceOf(core);
  const readTrends = openTrends(core);
  const slotDeps = {
    tasks: stores.tasks,
    onFailed: (about: SlotFailure, err: unknown) =>
      log.error({ ...about, err }, 'slots could not be cleaned up'),
  };
  return [
    { name: 'leases', run: createReleaseDeadLeases({ ...core, leases: stores.imageLeases, pause: sleep }) },
    { name: 'slots', run: createTidySlots(health.slots, slotDeps) },
    { name: 'key_slots', run: createTidyKeySlots(stores.keySlots, { ...slotDeps, now }) },
    { name: 'account_alerts', run: ({ isOver }) => core.notices.accountAlerts.repair(isOver) },
    { name: 'ledger_heads', run: dailyAnchors(anchors, now) },
    // Exports the heads that the previous step has just anchored.
    { name: 'ledger_heads_export', follows: 'ledger_heads', run: dailyExport({ anchors, openPlace, now }) },
    { name: 'rollups', run: async () => (await readTrends('day')).flows.length },
    ...removalUpkeep(core),
    ...uploadUpkeep(core),
    ...(core.results.kept?.upkeep ?? []),
  ];
}

export function openUploads(core: Core): Uploads | undefined {
  const { environment, stores, results, channels, log, now } = core;
  if (results.kept === undefined) return undefined;
  const { links } = results.kept;
  const { fileUploads: uploads, files } = stores;
  const { openStored } = results;
  const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { ref: false, signal });
  const copiesBytesMax = environment.UPLOADS_BYTES_MAX;
  const read = { files, links, openStored, channels, copiesBytesMax };
  return createUploads({ uploads, ...read, log, now, sleep: pause });
}

function uploadUpkeep(core: Core): UpkeepStep[] {
  const uploads = openUploads(core);
  return uploads === undefined ? [] : [{ name: 'uploads', run: ({ isOver }) => uploads.removeDue(isOver) }];
}

function removalUpkeep(core: Core): UpkeepStep[] {
  const { mongo, secrets, stores, results, config } = core;
  const removeCopies = async (ids: readonly string[], isOver: IsOver) =>
    results.kept === undefined ? ids : results.kept.copier.remove(ids, isOver);
  const removeFiles = async (account: string, isOver: IsOver) =>
    results.kept === undefined || results.kept.removeFiles(account, isOver);
  const marks = createRemovalMarks(mongo.db, secrets.deriveKey('ledger'));
  const removing = {
    removeCopies,
    removeFiles,
    marks,
    removeTasks: createRemoveTasks({ ...stores, removeCopies }),
  };
  const retention = () => retentionOf(config().retention);
  return [
    { name: 'task_retention', run: createTaskRetention({ ...core, ...stores, ...removing, retention }) },
    { name: 'account_deletions', run: createDeleteAccounts({ ...core, ...stores, ...removing }) },
  ];
}
