import type { EntryDocument } from './entry.ts';

/**
 * The limit for all accounts together. Entries that arrive while this many inserts are running go into a later insert.
 */
const insertsAtOnce = 4;
const entriesMax = 200;

/** Stops at the first entry whose `_id` or `key` already existed, and resolves to the number of entries before it. */
export type Insert = (entries: readonly EntryDocument[]) => Promise<number>;

interface Group {
  readonly entries: readonly EntryDocument[];
  readonly resolve: (written: number) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines the inserts of several accounts and keeps each account's order. If an entry is rejected, the entries after
 * it join the next insert. After any other failure, each entry may or may not exist.
 */
export function shareInserts(insert: Insert): Insert {
  const waiting: Group[] = [];
  let atWork = 0;

  function begin(): void {
    while (atWork < insertsAtOnce && waiting.length > 0) {
      atWork += 1;
      void write(takeGroups(waiting)).then(() => {
        atWork -= 1;
        begin();
      });
    }
  }

  async function write(groups: readonly Group[]): Promise<void> {
    try {
      let written = await insert(groups.flatMap(({ entries }) => entries));
      for (const [n, { entries, resolve }] of groups.entries()) {
        resolve(Math.min(written, entries.length));
        written -= entries.length;
        if (written >= 0) continue;
        waiting.unshift(...groups.slice(n + 1));
        return;
      }
    } catch (error) {
      for (const { reject } of groups) reject(error);
    }
  }

  return (entries) => {
    if (entries.length === 0) return Promise.resolve(0);
    return new Promise((resolve, reject) => {
      waiting.push({ entries, resolve, reject });
      begin();
    });
  };
}

function takeGroups(waiting: Group[]): Group[] {
  let entries = 0;
  const end = waiting.findIndex((group) => (entries += group.entries.length) > entriesMax);
  return waiting.splice(0, end < 0 ? waiting.length : Math.max(1, end));
}
