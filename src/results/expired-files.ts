import { walk, type IsOver, type Walked } from '../base/walk.ts';
import type { Logger } from '../observability/log.ts';
import type { FileStore } from '../store/files.ts';
import type { ResultStorage } from './storage.ts';

export interface ExpiredFilesDeps {
  readonly store: Pick<FileStore, 'listDue' | 'someReadyOf' | 'hasAnyOf' | 'remove' | 'postponeRemoval'>;
  readonly storage: Pick<ResultStorage, 'remove'>;
  readonly log: Pick<Logger, 'error'>;
  readonly now: () => number;
}

const duePerStep = 200;
/**
 * The delay before the next attempt to delete an object that the storage does not release, for example because of a
 * legal hold.
 */
const heldMs = 3_600_000;

type NamedFile = Awaited<ReturnType<FileStore['listDue']>>[number];

function removeEach(
  files: readonly NamedFile[],
  { store, storage, log, now }: ExpiredFilesDeps,
  isOver: IsOver,
): Promise<Walked> {
  return walk(files, {
    loop: 'files to delete',
    isOver,
    async run({ id, name }) {
      await storage.remove(`${id}/${name}`);
      await store.remove(id);
      return true;
    },
    async onFailed({ id }, err) {
      log.error({ target: id, err }, 'a file could not be deleted; the next attempt is in an hour');
      await store.postponeRemoval(id, now() + heldMs);
    },
  });
}

/**
 * Deletes expired files, and files that were never completed. Resolves to the number of deleted files. Idempotent.
 * Several processes may run this at once.
 */
export async function deleteExpiredFiles(
  deps: ExpiredFilesDeps,
  isOver: IsOver = () => false,
): Promise<Walked> {
  return removeEach(await deps.store.listDue(deps.now(), duePerStep), deps, isOver);
}

/**
 * Resolves to false if any files remain. Idempotent. Leaves incomplete and undeletable files to `deleteExpiredFiles`.
 * An aborted write may still complete, and only the record contains the file's name.
 */
export async function deleteFilesOf(
  account: string,
  isOver: IsOver,
  deps: ExpiredFilesDeps,
): Promise<boolean> {
  while (!isOver()) {
    const files = await deps.store.someReadyOf(account, duePerStep);
    if (files.length === 0) return !(await deps.store.hasAnyOf(account));
    await removeEach(files, deps, isOver);
  }
  return false;
}
