import type { EntryDocument } from './entry.ts';

/** Of all accounts together. Entries that arrive while this many are in flight form the next insert. */
const insertsAtOnce = 4;
const entriesMax = 200;

/** Writes entries in order; resolves with how many are there, up to the first whose `_id` or `key` exists. */
export type Insert = (entries: readonly EntryDocument[]) => Promise<number>;

interface Group {
  readonly entries: readonly EntryDocument[];
  readonly resolve: (written: number) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Inserts what several accounts have to write at once together, each account's entries in their order. One that is
 * refused stops those after it, which are not at fault and go with the next insert; what fails otherwise fails for all of
 * them, and nothing is known about any.
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

/** At least one, however long it is. */
function takeGroups(waiting: Group[]): Group[] {
  let entries = 0;
  const end = waiting.findIndex((group) => (entries += group.entries.length) > entriesMax);
  return waiting.splice(0, end < 0 ? waiting.length : Math.max(1, end));
}
