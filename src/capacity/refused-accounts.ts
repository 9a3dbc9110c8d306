import type { SlotRefusal, SlotStore } from '../store/slots.ts';

/**
 * Shares slots fairly among calls that cannot wait in a queue. An account whose call was rejected has priority for one
 * slot for a few seconds. A call may take a slot only if enough free slots remain for the rejected accounts ahead of
 * it: those that hold fewer slots or, with equally many, those that were rejected earlier. All processes share the
 * list, so an account gains nothing by retrying faster than others. A free slot stays idle for ten seconds at most.
 */
export interface RefusedAccounts {
  list(queue: string): Promise<readonly SlotRefusal[]>;
  judge(call: SlotCall, refused: readonly SlotRefusal[]): Promise<SlotVerdict>;
  /** Call this with the outcome. An `allowed` call counts as rejected if another process has taken the last slot. */
  note(call: SlotCall, refused: readonly SlotRefusal[], outcome: SlotVerdict | 'taken'): Promise<void>;
}

/** `owed` means that the free slots are reserved for accounts that were rejected earlier. */
export type SlotVerdict = 'allowed' | 'full' | 'owed';

export interface SlotCall {
  readonly queue: string;
  readonly limit: number;
  readonly account: string;
}

/** A rejected call keeps its account's priority for this long. Common clients pause for up to 8 s between retries. */
const owedMs = 10_000;
const notedEveryMs = 1_000;

export function createRefusedAccounts(
  store: Pick<SlotStore, 'refusals' | 'noteRefusal' | 'forgetRefusal' | 'holders'>,
  now: () => number,
): RefusedAccounts {
  return {
    list: (queue) => store.refusals(queue, now() - owedMs),

    async judge({ queue, limit, account }, refused) {
      const others = refused.filter((refusal) => refusal.account !== account);
      if (others.length === 0) return 'allowed';
      const holders = await store.holders(queue);
      if (holders.length >= limit) return 'full';
      const heldBy = (name: string): number => holders.filter((holder) => holder === name).length;
      const [own, since] = [heldBy(account), refusalOf(account, refused)?.since ?? Infinity];
      const first = others.filter((other) => {
        const more = heldBy(other.account) - own;
        return more === 0 ? other.since < since : more < 0;
      });
      return limit - holders.length > first.length ? 'allowed' : 'owed';
    },

    async note({ queue, account }, refused, outcome) {
      const own = refusalOf(account, refused);
      const at = now();
      if (outcome === 'taken') {
        if (own !== undefined) await store.forgetRefusal(queue, account);
        return;
      }
      if (outcome === 'owed' && own === undefined) return;
      if (own === undefined || at - own.at >= notedEveryMs)
        await store.noteRefusal({ queue, account, since: own?.since ?? at, at });
    },
  };
}

function refusalOf(account: string, refused: readonly SlotRefusal[]): SlotRefusal | undefined {
  return refused.find((refusal) => refusal.account === account);
}
