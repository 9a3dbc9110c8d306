import { isImageId } from '../base/ids.ts';
import { unlimited, walk, type IsOver, type StepTime, type Walked } from '../base/walk.ts';
import { racePoint } from '../base/race-point.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RemovalMarks } from '../ledger/removal-marks.ts';
import type { Logger } from '../observability/log.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { AuditStore } from '../store/audit.ts';
import type { AccountAlertStore } from '../store/account-alerts.ts';
import type { CapEventStore } from '../store/cap-events.ts';
import type { KeySlotStore } from '../store/key-slots.ts';
import type { KeyStore } from '../store/keys.ts';
import type { NoticeStore } from '../store/notices.ts';
import type { RepeatStore } from '../store/repeats.ts';
import type { StoredBytesStore } from '../store/stored-bytes.ts';
import type { TaskStore } from '../store/tasks.ts';
import type { AuditLog } from './audit-log.ts';
import type { RemoveCopies, RemoveTasks } from './remove-tasks.ts';

export interface DeleteAccountsDeps {
  readonly accounts: Pick<AccountStore, 'deleting' | 'noteImagesRemoved' | 'finishDeletion'>;
  readonly keys: Pick<KeyStore, 'idsOf' | 'removeMany'>;
  readonly keySlots: Pick<KeySlotStore, 'removeMany'>;
  readonly tasks: Pick<TaskStore, 'countOf' | 'idsOf'>;
  readonly accountAlerts: Pick<AccountAlertStore, 'remove'>;
  readonly capEvents: Pick<CapEventStore, 'removeAll'>;
  readonly notices: Pick<NoticeStore, 'remove'>;
  readonly storedBytes: Pick<StoredBytesStore, 'removeAll'>;
  readonly repeats: Pick<RepeatStore, 'removeBodies'>;
  readonly audit: Pick<AuditStore, 'redact'>;
  readonly auditLog: AuditLog;
  readonly ledger: Pick<Ledger, 'balance' | 'entries'>;
  readonly marks: Pick<RemovalMarks, 'raiseForAccount'>;
  readonly removeTasks: RemoveTasks;
  readonly removeCopies: RemoveCopies;
  readonly removeFiles: (account: string, isOver: IsOver) => Promise<boolean>;
  readonly log: Pick<Logger, 'error'>;
  readonly now: () => number;
}

/**
 * The deletion waits this long after the closure. By then every process knows about the closure, and everything begun
 * before it has either made a hold or been abandoned.
 */
const settledAfterMs = 20 * 60_000;
const pageItems = 500;

/**
 * Returns a step that continues deleting accounts and resolves to the number of completed deletions. Every part is
 * idempotent. The remaining data shows what is left to do, so another process can continue after a crash.
 */
export function createDeleteAccounts(deps: DeleteAccountsDeps) {
  let reached = '';
  return async ({ isOver }: Pick<StepTime, 'isOver'> = unlimited): Promise<Walked> => {
    const next = await deps.accounts.deleting(reached);
    return walk(next.length > 0 ? next : await deps.accounts.deleting(''), {
      loop: 'accounts to delete',
      isOver,
      async run(account) {
        // The next run starts after this account.
        reached = account.id;
        return continueDeletion(account, isOver, deps);
      },
      onFailed({ id }, err) {
        deps.log.error({ account: id, err }, 'the deletion of an account could not be continued');
      },
    });
  };
}

async function continueDeletion(
  account: Account,
  isOver: IsOver,
  deps: DeleteAccountsDeps,
): Promise<boolean> {
  const { id, closedAt = 0 } = account;
  if (!(await removeKeys(id, isOver, deps))) return false;
  const { unfinished } = await deps.tasks.countOf(id);
  const { held } = await deps.ledger.balance(id);
  if (unfinished > 0 || held > 0n || deps.now() - closedAt < settledAfterMs) return false;
  await deps.marks.raiseForAccount(id, deps.now());
  if (!(await removeAllTasks(id, isOver, deps)) || !(await removeImages(account, isOver, deps))) return false;
  if (!(await deps.removeFiles(id, isOver))) return false;
  await Promise.all([
    deps.accountAlerts.remove(id),
    deps.capEvents.removeAll(id),
    deps.notices.remove(`low_balance/${id}`),
    deps.storedBytes.removeAll(id),
    deps.audit.redact({ target: { $in: [id] } }),
  ]);
  await racePoint('deletion.finishing', id);
  await complete(account, deps);
  return true;
}

async function removeKeys(
  account: string,
  isOver: IsOver,
  { keys, keySlots, audit }: DeleteAccountsDeps,
): Promise<boolean> {
  while (!isOver()) {
    const ids = await keys.idsOf(account, pageItems);
    if (ids.length === 0) return true;
    await Promise.all([audit.redact({ target: { $in: ids } }), keySlots.removeMany(ids)]);
    await keys.removeMany(ids);
  }
  return false;
}

async function removeAllTasks(account: string, isOver: IsOver, deps: DeleteAccountsDeps): Promise<boolean> {
  while (!isOver()) {
    const ids = await deps.tasks.idsOf(account, pageItems);
    if (ids.length === 0) return true;
    await deps.audit.redact({ task: { $in: ids } });
    await racePoint('deletion.page', account);
    // If no task could be removed, the remaining ones are still running.
    if ((await deps.removeTasks(ids, isOver)) === 0) return false;
  }
  return false;
}

/** Synchronous images have no record, so they are found through the ledger. */
async function removeImages(account: Account, isOver: IsOver, deps: DeleteAccountsDeps): Promise<boolean> {
  const { id, deletion } = account;
  let after = deletion?.imagesUpTo ?? 0n;
  while (!isOver()) {
    const page = await deps.ledger.entries(id, { after, limit: pageItems });
    const last = page.at(-1);
    if (last === undefined) return true;
    const tasks = page.flatMap(({ task }) => (task !== undefined && isImageId(task) ? [task] : []));
    const images = [...new Set(tasks)];
    const [removed] = await Promise.all([
      deps.removeCopies(images, isOver),
      deps.repeats.removeBodies(images),
    ]);
    if (removed.length < images.length) return false;
    await deps.accounts.noteImagesRemoved(id, last.seq);
    after = last.seq;
  }
  return false;
}

async function complete({ id, deletion }: Account, deps: DeleteAccountsDeps): Promise<void> {
  const { by = '', reason = '', requestedAt = 0 } = deletion ?? {};
  const key = { id: `deleted-${id}`, at: requestedAt };
  const act = { by, via: 'api', action: 'accountDeleted', target: id, reason, input: {}, key } as const;
  await deps.auditLog.keep(act, () => deps.accounts.finishDeletion(id, deps.now()));
}
