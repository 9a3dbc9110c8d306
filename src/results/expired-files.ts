import type { FileStore } from '../store/files.ts';
import type { ResultStorage } from './storage.ts';

export interface ExpiredFilesDeps {
  readonly store: Pick<FileStore, 'listDue' | 'someOf' | 'remove'>;
  readonly storage: Pick<ResultStorage, 'remove'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const duePerStep = 200;

/** Deletes files whose time is over, and what was never completed; how many. Repeatable, in any number of processes. */
export async function deleteExpiredFiles({ store, storage, now }: ExpiredFilesDeps): Promise<number> {
  const due = await store.listDue(now(), duePerStep);
  for (const { id, name } of due) {
    await storage.remove(`${id}/${name}`);
    await store.remove(id);
  }
  return due.length;
}

/** Deletes what an account has stored, until `endsAt` in Unix milliseconds. False: there is more. Repeatable. */
export async function deleteFilesOf(
  account: string,
  endsAt: number,
  { store, storage, now }: ExpiredFilesDeps,
): Promise<boolean> {
  while (now() < endsAt) {
    const [file] = await store.someOf(account, 1);
    if (file === undefined) return true;
    await storage.remove(`${file.id}/${file.name}`);
    await store.remove(file.id);
  }
  return false;
}
