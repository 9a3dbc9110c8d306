import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** The length of a turn, in appends and within these milliseconds, and of the rest after it that lets others in. */
const turnOfSome = { appends: 15, msMin: 60, msMax: 300, restAppends: 2 };
/** The same of one that knows of no other: who only loses cannot be seen. */
const turnOfOne = { appends: 40, msMin: 250, msMax: 600, restAppends: 1.5 };
/** Who has lost no race for this long has the account alone again. */
const contestedMs = 1_000;
/** How long one append takes, until it is known. */
const paceMsDefault = 5;
const paceMsMax = 30;
/** A loser looks this often at most before its next try; each wait is twice the one before. */
const looksMax = 4;
/** Who has lost more often waits no longer each time. */
const patientLossesMax = 3;

interface Turns {
  /**
   * For one account, as long as there is something to append to it. `hasMoved` reads the head and says whether another
   * process has appended since.
   */
  take(account: string, hasMoved: () => Promise<boolean>): Turn;
}

export interface Turn {
  /** Before each append: waits for a moment when the turn has ended. */
  begin(): Promise<void>;
  /** After each try that began at `startedAt`: waits for others when it was lost, and not for the first time. */
  tried(startedAt: number, result: 'won' | 'lost'): Promise<void>;
}

export interface TurnClock {
  /** Milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** From 0 to 1. */
  readonly random: () => number;
}

export const realTurnClock: TurnClock = {
  now: () => performance.now(),
  sleep: (ms) => setTimeout(ms),
  random: Math.random,
};

/**
 * Who appends to an account that several processes want at once. The books are right without it: each place is taken
 * once. But while one process reads and plans, another one takes the place: most work would be in vain, and the quickest
 * would have the account to itself. So a process that wins a place appends on from memory for a turn, and then rests; the
 * losers wait for that rest. Nobody is asked and nothing is written: a chain that grows shows that somebody is at work.
 */
export function createTurns(accountsMax: number, { now, sleep, random }: TurnClock): Turns {
  const contestedUntil = new LRUCache<string, number>({ max: accountsMax });
  let paceMs = paceMsDefault;
  const pause = (appends: number): Promise<unknown> => sleep(appends * paceMs * (0.5 + random()));

  function take(account: string, hasMoved: () => Promise<boolean>): Turn {
    const isContested = (): boolean => (contestedUntil.get(account) ?? 0) > now();
    const contest = (): void => void contestedUntil.set(account, now() + contestedMs);
    const rules = () => (isContested() ? turnOfSome : turnOfOne);
    const end = (): number => {
      const { appends, msMin, msMax } = rules();
      return now() + Math.min(msMax, Math.max(msMin, appends * paceMs));
    };
    let endsAt = end();
    let lostInARow = 0;

    async function waitForOthers(): Promise<void> {
      let looks = 0;
      do {
        await pause(lostInARow > patientLossesMax ? 1 : 2 ** looks);
        looks += 1;
      } while (looks <= looksMax && (await hasMoved()));
    }

    return {
      async begin() {
        if (now() < endsAt) return;
        await pause(rules().restAppends);
        if (isContested() && (await hasMoved())) {
          contest();
          await waitForOthers();
        }
        endsAt = end();
      },
      async tried(startedAt, result) {
        paceMs = Math.min(paceMsMax, 0.9 * paceMs + 0.1 * (now() - startedAt));
        if (result === 'lost') {
          const isKnown = isContested();
          contest();
          lostInARow += 1;
          if (isKnown) await waitForOthers();
          return;
        }
        if (lostInARow > 0) endsAt = end();
        lostInARow = 0;
      },
    };
  }

  return { take };
}
