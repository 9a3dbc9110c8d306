const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A source of random bytes. The composition root passes `randomBytes` from node:crypto. */
export type RandomBytes = (size: number) => Uint8Array;

/** Returns `length` base62 characters. Bytes of 248 and above are redrawn, so every character is equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62.charAt(byte % 62);
    }
  }
  return text;
}

/** Returns a public task id: `task_` followed by 24 random base62 characters (142 bits), which encode nothing. */
export function newTaskId(randomBytes: RandomBytes): string {
  return `task_${randomBase62(24, randomBytes)}`;
}

/** Returns an id under which an operator's act is recorded once. */
export function newActionId(randomBytes: RandomBytes): string {
  return `act_${randomBase62(16, randomBytes)}`;
}

/**
 * Returns an id for an account's file: `file_`, the time (Unix milliseconds as 9 base36 characters), and 15 base62
 * characters (89 bits). Ids sort by time, so a list can continue after a file that has been deleted.
 */
export function newFileId(now: number, randomBytes: RandomBytes): string {
  return `file_${now.toString(36).padStart(9, '0')}${randomBase62(15, randomBytes)}`;
}

export const fileIdPattern = /^file_[0-9A-Za-z]{24}$/;

export const taskIdPattern = /^task_[0-9A-Za-z]{22,64}$/;

/** Matches the ids of everything with stored bytes: tasks, synchronous images, and files. */
export const mediaIdPattern = /^(?:task_[0-9A-Za-z]{22,64}|img_[0-9A-Za-z]{8,80}|file_[0-9A-Za-z]{24})$/;

/**
 * Whether the id belongs to a synchronous image. These images have no record, and their ledger entries contain this id
 * instead of a task id.
 */
export function isImageId(id: string): boolean {
  return id.startsWith(imageIdPrefix);
}

export const imageIdPrefix = 'img_';

/**
 * Matches the markers that the gateway sends to every upstream that accepts one: `mediary-<task>-<n>`. Callers may not
 * use them.
 */
export const markerPattern = /^mediary-.*-\d+$/is;

/**
 * Returns the marker that identifies the job of a task's nth submission in the upstream's list. It is derived from the
 * task id, never from a workflow run. It uses only `[a-z0-9-]`, because several upstreams accept nothing else. Even in
 * lower case, an id has 121 bits against collisions.
 */
export function markerOf({ task, n }: { readonly task: string; readonly n: number }): string {
  return `${task.replace(/^task_/, 'mediary-').toLowerCase()}-${n}`;
}

/** Returns the name of a task's nth submission for logs and race points. */
export function attemptId(task: string, n: number): string {
  return `${task}:${n}`;
}

/** The name of a task's original series of callback attempts, which never replaces another series. */
export const ownCallbackRound = 'task';
