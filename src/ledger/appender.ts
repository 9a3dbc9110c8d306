import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { MongoAPIError, MongoBulkWriteError, MongoError } from 'mongodb';
import type { LedgerMeter } from '../observability/meter.ts';
import { isNetworkFailure } from '../base/caught.ts';
import { racePoint } from '../base/race-point.ts';
import { isOutage } from '../store/mongo.ts';
import { findByKeys, insertInOrder, type LedgerCollection } from './collection.ts';
import type { EntryDocument, EntryHash } from './entry.ts';
import { LedgerClockError, LedgerUnavailableError } from './ledger-errors.ts';
import type { Heads } from './heads.ts';
import { allKeys, keysBeforeFirstTry, planBatch, scopesOfBatch, type Outcome } from './plan.ts';
import type { Operation } from './operation.ts';
import { shareInserts, type Insert } from './shared-inserts.ts';
import { alone, type TurnLines } from './turn-lines.ts';
import { createTurns, realTurnClock, type Turn } from './turns.ts';

/**
 * The maximum number of operations in a batch. An entry is at most 64 KiB, so a batch stays far below MongoDB's message
 * limit of 48 MB.
 */
const batchOperationsMax = 100;
const waitingOperationsMax = 10_000;
/** An append fails after losing this many consecutive races against other processes. */
const conflictsMax = 500;
const contestedAccountsMax = 10_000;
const failuresMax = 5;
const failureWaitMs = 50;
/**
 * Failures are no longer retried after this time. The last attempt may take longer, because the driver waits for a
 * server.
 */
const triesEndAfterMs = 10_000;

export interface Appender {
  submit(operation: Operation): Promise<Outcome>;
}

export interface AppenderDeps {
  readonly collection: LedgerCollection;
  readonly heads: Heads;
  readonly hash: EntryHash;
  readonly now: () => number;
  readonly onBalance?: (account: string, after: Pick<EntryDocument, 'available' | 'seq'>) => void;
  readonly meter?: LedgerMeter;
  readonly isTimeRight?: () => boolean;
  readonly lines?: TurnLines;
}

interface Deps extends AppenderDeps {
  readonly turn: Turn;
  readonly insert: Insert;
}

interface Waiting {
  readonly operation: Operation;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Each account has its own queue. Operations that arrive while a batch is in flight form the next batch, so a busy
 * account needs few round trips.
 */
export function createAppender(deps: AppenderDeps): Appender {
  const queues = new Map<string, Waiting[]>();
  const { heads, lines = alone } = deps;
  const turns = createTurns({ lines, accountsMax: contestedAccountsMax, clock: realTurnClock });
  const insert = shareInserts((entries) => insertInOrder(deps.collection, entries));

  async function drain(account: string, queue: Waiting[]): Promise<void> {
    const turn = turns.take(account, () => heads.refresh(account));
    await nextTurn();
    while (queue.length > 0) {
      await append({ ...deps, turn, insert }, account, queue);
      await nextTurn();
      if (queue.length === 0) await turn.end();
    }
    queues.delete(account);
  }

  return {
    submit: (operation) =>
      new Promise<Outcome>((resolve, reject) => {
        const waiting: Waiting = { operation, resolve, reject };
        const queue = queues.get(operation.account);
        if (queue === undefined) {
          const started = [waiting];
          queues.set(operation.account, started);
          void drain(operation.account, started);
        } else if (queue.length < waitingOperationsMax) {
          queue.push(waiting);
        } else {
          reject(
            new LedgerUnavailableError(
              `too many operations are waiting for account ${operation.account}`,
              undefined,
            ),
          );
        }
      }),
  };
}

interface Progress {
  left: readonly Waiting[];
  /**
   * Makes the next attempt reread the head and all keys. Set after an error, or if the cached head led to a rejection.
   */
  fresh: boolean;
  /**
   * The seq at which an entry was rejected as a duplicate. If the head has since reached this seq, another process
   * inserted an entry there. Otherwise, one of our keys already existed.
   */
  refusedAt: bigint | undefined;
  conflicts: number;
  failures: number;
}

/** Repeating an insert is safe, because `_id` and `key` are unique. */
async function append(deps: Deps, account: string, queue: Waiting[]): Promise<void> {
  const ended = deps.meter?.beginAppend();
  const progress: Progress = { left: [], fresh: false, refusedAt: undefined, conflicts: 0, failures: 0 };
  try {
    await deps.turn.begin();
    await appendAll(deps, account, { progress, queue });
  } catch (error) {
    for (const { reject } of progress.left) reject(error);
  }
  ended?.();
}

async function appendAll(
  deps: Deps,
  account: string,
  { progress, queue }: { readonly progress: Progress; readonly queue: Waiting[] },
): Promise<void> {
  const lastTryAt = deps.now() + triesEndAfterMs;
  do {
    // Operations that arrived in the meantime may join this batch, unless it has failed before, because the next
    // attempt may then be its last.
    const room = progress.failures > 0 ? 0 : batchOperationsMax - progress.left.length;
    progress.left = [...progress.left, ...queue.splice(0, room)];
    try {
      await tryOnce(deps, account, progress);
    } catch (error) {
      progress.fresh = true;
      progress.failures += 1;
      if (!isTransient(error)) throw error;
      if (progress.failures > failuresMax || deps.now() > lastTryAt) {
        throw new LedgerUnavailableError(`account ${account}: MongoDB does not respond`, error);
      }
      await sleep(failureWaitMs * 2 ** (progress.failures - 1));
    }
    if (progress.conflicts > conflictsMax) {
      const message = `account ${account}: lost ${conflictsMax} consecutive races`;
      throw new LedgerUnavailableError(message, undefined);
    }
  } while (progress.left.length > 0);
}

async function tryOnce(deps: Deps, account: string, progress: Progress): Promise<void> {
  const { collection, heads, hash } = deps;
  if (deps.isTimeRight?.() === false) throw new LedgerClockError();
  const operations = progress.left.map(({ operation }) => operation);
  // Read the head before the keys. In the reverse order, an operation that another process completes in between would
  // be missing from the keys but already deducted from the head's balance, and could be refused as unaffordable.
  const head = progress.fresh ? await heads.refresh(account) : await heads.get(account);
  const isKeyRefused = progress.refusedAt !== undefined && head.seq < progress.refusedAt;
  const known = await findByKeys(
    collection,
    operations.flatMap(progress.fresh || isKeyRefused ? allKeys : keysBeforeFirstTry),
  );
  const spent = await heads.spent(account, head, scopesOfBatch(operations, known));
  const plan = planBatch(operations, { head, known, spent, at: deps.now(), hash });
  if (!progress.fresh && plan.operations.some(({ outcome }) => isRefused(outcome))) {
    // The cached head may lack another process's credit, so read it again before rejecting an operation.
    progress.fresh = true;
    return;
  }
  await racePoint('ledger.append', account);
  const written = await deps.insert(plan.entries);
  const last = plan.entries[written - 1];
  if (last !== undefined) {
    const entries = plan.entries.slice(0, written);
    heads.follow(account, entries);
    const lowest = entries.reduce((least, entry) => (entry.available < least.available ? entry : least));
    for (const after of lowest === last ? [last] : [lowest, last]) deps.onBalance?.(account, after);
  }
  const decided = plan.operations.findIndex(({ entriesNeeded }) => entriesNeeded > written);
  const count = decided < 0 ? operations.length : decided;
  progress.left.slice(0, count).forEach(({ resolve }, index) => {
    const outcome = plan.operations[index]?.outcome;
    if (outcome !== undefined) resolve(outcome);
  });
  progress.left = progress.left.slice(count);
  progress.fresh = false;
  progress.refusedAt = plan.entries[written]?.seq;
  const isLost = progress.refusedAt !== undefined;
  progress.conflicts = isLost && written === 0 ? progress.conflicts + 1 : 0;
  if (!isLost) return;
  heads.contest(account);
  deps.meter?.countCollision();
  await deps.turn.lost();
}

function isRefused({ state }: Outcome): boolean {
  return state === 'refused' || state === 'capped';
}

/**
 * Only connection errors, server errors and loss of the replica-set majority are transient. An entry rejected for its
 * content would be rejected again.
 */
function isTransient(error: unknown): boolean {
  if (isNetworkFailure(error)) return true;
  if (!(error instanceof MongoError) || error instanceof MongoAPIError) return false;
  if (!(error instanceof MongoBulkWriteError)) return true;
  return error.result.getWriteConcernError() !== undefined || isOutage(error);
}
