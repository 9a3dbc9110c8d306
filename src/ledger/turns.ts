import { setTimeout } from 'node:timers/promises';
import { createRecent } from '../base/recent.ts';
import type { TurnLines } from './turn-lines.ts';

/** The time for which a process appends before it yields to others waiting for the account, in milliseconds. */
const turnMs = 200;
/** The number of appends between checks for waiting processes, if a process has an account to itself. */
const appendsBetweenLooks = 32;
/** The time, by the next process's clock, after which the first in line is presumed dead or stuck if still there. */
const overdueMs = 1_500;
/** The pause between two checks of the line, multiplied by the number of processes ahead of us. */
const lookMs = 12;
/** The number of lost races after which a process joins the line. A single loss may be chance. */
const lossesBeforeLine = 2;

interface Turns {
  /**
   * Creates an account's turn, which lasts as long as there is something to append. `refresh` reads the account's head.
   */
  take(account: string, refresh: () => Promise<unknown>): Turn;
}

export interface Turn {
  /** Called before each append. Waits for our turn if other processes also want the account. */
  begin(): Promise<void>;
  /** Called after each lost race for a place in the chain. */
  lost(): Promise<void>;
  /** Called when every entry has been appended. */
  end(): Promise<void>;
}

export interface TurnClock {
  /** The clock in milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

export const realTurnClock: TurnClock = { now: () => performance.now(), sleep: (ms) => setTimeout(ms) };

export interface TurnDeps {
  readonly lines: TurnLines;
  /** The maximum number of contested accounts to remember. */
  readonly accountsMax: number;
  readonly clock: TurnClock;
}

/**
 * Decides which process appends to an account if several want to at once. The ledger is correct without turns, because
 * each place in the chain can be taken only once. But while one process reads and plans, another would take the place.
 * Most work would then be wasted, and the fastest process would keep the account. Therefore a process that has lost
 * races joins a line, and appends from memory while it is first. A process without losses only checks the line
 * occasionally. If MongoDB does not respond, no process waits: the next append fails in the same way and handles the
 * failure.
 */
export function createTurns(deps: TurnDeps): Turns {
  const { lines, accountsMax, clock } = deps;
  const self = crypto.randomUUID();
  const contested = createRecent<true>(accountsMax);
  /** The number of appends since the line was last checked, including those of earlier turns. */
  const unlooked = createRecent<number>(accountsMax);

  async function isWanted(account: string): Promise<boolean> {
    const appends = (unlooked.get(account) ?? 0) + 1;
    unlooked.set(account, appends % appendsBetweenLooks);
    if (appends < appendsBetweenLooks) return false;
    return (await lines.look(account)).line.length > 0;
  }

  function take(account: string, refresh: () => Promise<unknown>): Turn {
    let isInLine = false;
    let endsAt = 0;
    let losses = 0;

    async function standInLine(): Promise<void> {
      contested.set(account, true);
      isInLine = true;
      await untilFirst(account, self, deps);
      await refresh();
      endsAt = clock.now() + turnMs;
    }

    async function leaveLine(): Promise<void> {
      if (!isInLine) return;
      isInLine = false;
      const { line } = await lines.leave(account, self);
      if (line.length === 0) contested.delete(account);
    }

    async function begin(): Promise<void> {
      losses = 0;
      if (isInLine && clock.now() < endsAt) return;
      await leaveLine();
      if (contested.has(account) || (await isWanted(account))) await standInLine();
    }

    async function lost(): Promise<void> {
      losses += 1;
      if (!isInLine && losses >= lossesBeforeLine) await standInLine();
    }

    return { begin: quietly(begin), lost: quietly(lost), end: quietly(leaveLine) };
  }

  return { take };
}

function quietly(step: () => Promise<void>): () => Promise<void> {
  return () => step().catch(() => undefined);
}

async function untilFirst(
  account: string,
  self: string,
  { lines, clock: { now, sleep } }: Pick<TurnDeps, 'lines' | 'clock'>,
): Promise<void> {
  let seen = await lines.join(account, self);
  let changedAt = now();
  for (;;) {
    const place = seen.line.indexOf(self);
    const [first] = seen.line;
    if (place === 0 || first === undefined) return;
    if (place < 0) seen = await lines.join(account, self);
    else if (now() - changedAt > overdueMs) {
      seen = await lines.leave(account, first);
      changedAt = now();
    } else {
      await sleep(lookMs * place);
      const { turn } = seen;
      seen = await lines.look(account);
      if (seen.turn !== turn) changedAt = now();
    }
  }
}
