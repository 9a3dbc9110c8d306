const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type RandomBytes = (size: number) => Uint8Array;

/** Bytes of 248 and above are discarded, so that every character is equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62.charAt(byte % 62);
    }
  }
  return text;
}

/** The 24 random characters have 142 bits of entropy. */
export function newTaskId(randomBytes: RandomBytes): string {
  return `task_${randomBase62(24, randomBytes)}`;
}

export function newActionId(randomBytes: RandomBytes): string {
  return `act_${randomBase62(16, randomBytes)}`;
}

/**
 * The 15 random characters have 89 bits of entropy. The ids sort by time, so paging can continue from an id whose file
 * has been deleted.
 */
export function newFileId(now: number, randomBytes: RandomBytes): string {
  return `file_${now.toString(36).padStart(9, '0')}${randomBase62(15, randomBytes)}`;
}

export const fileIdPattern = /^file_[0-9A-Za-z]{24}$/;

export const taskIdPattern = /^task_[0-9A-Za-z]{22,64}$/;

export const mediaIdPattern = /^(?:task_[0-9A-Za-z]{22,64}|img_[0-9A-Za-z]{8,80}|file_[0-9A-Za-z]{24})$/;

/** Synchronous images have no task record. Their ledger entries contain an image id instead of a task id. */
export function isImageId(id: string): boolean {
  return id.startsWith(imageIdPrefix);
}

export const imageIdPrefix = 'img_';

/** Callers may not choose markers of this form (`mediary-<task>-<n>`), because the gateway uses them to find jobs. */
export const markerPattern = /^mediary-.*-\d+$/is;

/**
 * Identifies the task's nth submission in the upstream's job list. The marker uses only `[a-z0-9-]`, because some
 * upstreams accept nothing else. Even in lower case, an id has 121 bits of entropy.
 */
export function markerOf({ task, n }: { readonly task: string; readonly n: number }): string {
  return `${task.replace(/^task_/, 'mediary-').toLowerCase()}-${n}`;
}

export function attemptId(task: string, n: number): string {
  return `${task}:${n}`;
}

/** The name of a task's first series of callback attempts. Each redelivery has its own name. */
export const ownCallbackRound = 'task';
