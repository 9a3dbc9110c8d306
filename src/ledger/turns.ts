import { setTimeout } from 'node:timers/promises';
import { periods } from '../base/periods.ts';
import { createRecent } from '../base/recent.ts';
import type { TurnLines } from './turn-lines.ts';

/** A process may keep appending for this long while others wait for the account. */
const turnMs = 200;
/** A process that has the account to itself checks for others after this many appends. */
const appendsBetweenLooks = 32;
/**
 * If the queue has not moved for this long, the process at the front is presumed dead. Each waiting process uses its
 * own clock.
 */
const overdueMs = 1_500;
/** A process joins the queue after losing this many races. A single loss may be chance. */
const lossesBeforeLine = 2;

interface Turns {
  /** Lets this process append to an account until nothing is left to append. `refresh` reads the account's head. */
  take(account: string, refresh: () => Promise<unknown>): Turn;
}

export interface Turn {
  /** Call this before each append. It waits while another process is ahead in the queue. */
  begin(): Promise<void>;
  /** Call this if another process inserted an entry with the same number first. */
  lost(): Promise<void>;
  end(): Promise<void>;
}

export interface TurnClock {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

export const realTurnClock: TurnClock = { now: () => performance.now(), sleep: (ms) => setTimeout(ms) };

export interface TurnDeps {
  readonly lines: TurnLines;
  readonly accountsMax: number;
  readonly clock: TurnClock;
}

/**
 * Decides which of several processes appends to an account. The ledger would be correct without this, because each
 * entry number can be used only once. But most work would be wasted on lost races, and the fastest process would keep
 * the account. A process that has lost races therefore joins a queue. At the front of the queue, it appends without
 * rereading the head. If MongoDB does not respond, no process waits, because the append itself reports the failure.
 */
export function createTurns(deps: TurnDeps): Turns {
  const { lines, accountsMax, clock } = deps;
  const self = crypto.randomUUID();
  const contested = createRecent<true>(accountsMax);
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
      await sleep(periods.ledgerTurn.everyMs * place);
      const { turn } = seen;
      seen = await lines.look(account);
      if (seen.turn !== turn) changedAt = now();
    }
  }
}
