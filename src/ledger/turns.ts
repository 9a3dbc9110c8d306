import { setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { TurnLines } from './turn-lines.ts';

/** How long a process that others wait for appends at a time. */
const turnMs = 200;
/** Who wants an account alone looks as rarely as this whether somebody waits for it. */
const appendsBetweenLooks = 32;
/** Who is first in line and does not leave it for this long, by the clock of the next one, is dead or stands still. */
const overdueMs = 1_500;
/** Between two looks at the line, for each one that stands before us. */
const lookMs = 12;
/** A first lost race may have been the only one. */
const lossesBeforeLine = 2;

interface Turns {
  /** For one account, as long as there is something to append to it. `refresh` reads its head. */
  take(account: string, refresh: () => Promise<unknown>): Turn;
}

export interface Turn {
  /** Before each append: waits for our turn where others want the account, too. */
  begin(): Promise<void>;
  /** After each race for a place in the chain that was lost. */
  lost(): Promise<void>;
  /** There is nothing to append any more. */
  end(): Promise<void>;
}

export interface TurnClock {
  /** Milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
}

export const realTurnClock: TurnClock = { now: () => performance.now(), sleep: (ms) => setTimeout(ms) };

export interface TurnDeps {
  readonly lines: TurnLines;
  /** Of all accounts that others have wanted, too. */
  readonly accountsMax: number;
  readonly clock: TurnClock;
}

/**
 * Who appends to an account that several processes want at once. The books are right without it: each place is taken
 * once. But while one process reads and plans, another one takes the place: most work would be in vain, and the quickest
 * would have the account to itself. So whoever lost races stands in line, and appends from memory while it is first. Who
 * has lost none asks nobody, but for a look from time to time. Where MongoDB does not answer nobody waits: the append
 * that follows meets the same failure, and knows what to do.
 */
export function createTurns(deps: TurnDeps): Turns {
  const { lines, accountsMax, clock } = deps;
  const self = crypto.randomUUID();
  const contested = new LRUCache<string, true>({ max: accountsMax });
  /** Appends since the last look, also of former turns. */
  const unlooked = new LRUCache<string, number>({ max: accountsMax });

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
