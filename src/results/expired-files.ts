import { defined } from '../base/defined.ts';
import { walk } from '../base/walk.ts';
import type { Logger } from '../observability/log.ts';
import type { FileStore } from '../store/files.ts';
import type { ResultStorage } from './storage.ts';

export interface ExpiredFilesDeps {
  readonly store: Pick<FileStore, 'listDue' | 'someOf' | 'remove' | 'postponeRemoval'>;
  readonly storage: Pick<ResultStorage, 'remove'>;
  readonly log: Pick<Logger, 'error'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const duePerStep = 200;
/**
 * The wait before another attempt to delete an object that the storage cannot delete, such as one under legal hold.
 */
const heldMs = 3_600_000;

type NamedFile = Awaited<ReturnType<FileStore['listDue']>>[number];

function removeEach(
  files: readonly NamedFile[],
  { store, storage, log, now }: ExpiredFilesDeps,
  isOver?: () => boolean,
): Promise<number> {
  return walk(files, {
    async run({ id, name }) {
      await storage.remove(`${id}/${name}`);
      await store.remove(id);
      return true;
    },
    async onFailed({ id }, err) {
      log.error({ target: id, err }, 'a file could not be deleted; the next attempt is in an hour');
      await store.postponeRemoval(id, now() + heldMs);
    },
    ...defined({ isOver }),
  });
}

/** Deletes files whose time is over, and what was never completed; how many. Repeatable, in any number of processes. */
export async function deleteExpiredFiles(deps: ExpiredFilesDeps): Promise<number> {
  return removeEach(await deps.store.listDue(deps.now(), duePerStep), deps);
}

/** Deletes what an account has stored, until `endsAt` in Unix milliseconds. False: there is more. Repeatable. */
export async function deleteFilesOf(
  account: string,
  endsAt: number,
  deps: ExpiredFilesDeps,
): Promise<boolean> {
  const isOver = (): boolean => deps.now() >= endsAt;
  while (!isOver()) {
    const files = await deps.store.someOf(account, duePerStep);
    if (files.length === 0) return true;
    const removed = await removeEach(files, deps, isOver);
    // The remaining objects cannot be deleted now.
    if (removed === 0) return false;
  }
  return false;
}
