const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random bytes from the composition root: `randomBytes` of node:crypto. */
export type RandomBytes = (size: number) => Uint8Array;

/** `length` characters of base62, each drawn evenly (bytes of 248 and more are drawn again). */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += base62.charAt(byte % 62);
    }
  }
  return text;
}

/** A public task id: `task_` and 24 base62 characters (142 bits); it encodes nothing. */
export function newTaskId(randomBytes: RandomBytes): string {
  return `task_${randomBase62(24, randomBytes)}`;
}

/** Of an operator's act: it is written down once. */
export function newActionId(randomBytes: RandomBytes): string {
  return `act_${randomBase62(16, randomBytes)}`;
}

/**
 * Of a file that an account stores: `file_`, its time (Unix milliseconds, 9 characters of base36) and 15 base62 characters
 * (89 bits). Ids sort by time, so that a list continues behind one that is deleted.
 */
export function newFileId(now: number, randomBytes: RandomBytes): string {
  return `file_${now.toString(36).padStart(9, '0')}${randomBase62(15, randomBytes)}`;
}

export const fileIdPattern = /^file_[0-9A-Za-z]{24}$/;

export const taskIdPattern = /^task_[0-9A-Za-z]{22,64}$/;

/** Of a task, of images that were answered at once, or of a file of an account: whose bytes are stored. */
export const mediaIdPattern = /^(?:task_[0-9A-Za-z]{22,64}|img_[0-9A-Za-z]{8,80}|file_[0-9A-Za-z]{24})$/;

/** Images that are answered at once have no record: these are the tasks of their ledger entries. */
export function isImageId(id: string): boolean {
  return id.startsWith(imageIdPrefix);
}

export const imageIdPrefix = 'img_';

/** What the gateway itself writes where an upstream lets it mark a job: `mediary-<task>-<n>`. No caller may. */
export const markerPattern = /^mediary-.*-\d+$/is;

/**
 * Recognises the job of a task's n-th submission in the upstream's list; derived from the task's id, never a run's. Made
 * of `[a-z0-9-]`: several upstreams take nothing else. Without its capitals an id still has 121 bits against a collision.
 */
export function markerOf({ task, n }: { readonly task: string; readonly n: number }): string {
  return `${task.replace(/^task_/, 'mediary-').toLowerCase()}-${n}`;
}

/** A task's n-th submission, in logs and at race points. */
export function attemptId(task: string, n: number): string {
  return `${task}:${n}`;
}

/** A task's own series of callback attempts, which is the oldest: it never replaces another. */
export const ownCallbackRound = 'task';
