import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { MongoAPIError, MongoBulkWriteError, MongoError } from 'mongodb';
import type { LedgerMeter } from '../domain/meter.ts';
import { isNetworkFailure } from '../domain/caught.ts';
import type { Micros } from '../domain/money.ts';
import { racePoint } from '../domain/race-point.ts';
import { findByKeys, insertInOrder } from './collection.ts';
import type { LedgerCollection } from './collection.ts';
import { LedgerUnavailableError } from './ledger-errors.ts';
import type { Heads } from './heads.ts';
import { allKeys, keysBeforeFirstTry, planBatch } from './plan.ts';
import type { Outcome } from './plan.ts';
import type { Operation } from './operation.ts';

/** Entries of up to 64 KiB: a batch stays far below a message's 48 MB. */
const batchOperationsMax = 100;
const waitingOperationsMax = 10_000;
/** Consecutive lost races; each one means that another process got a turn. */
const conflictsMax = 500;
const conflictsBeforeWaiting = 3;
const conflictWaitMsMax = 50;
const failuresMax = 5;
const failureWaitMs = 50;
/** No new try after this: one try may itself wait for the driver to find a server. */
const triesEndAfterMs = 10_000;

export interface Appender {
  /** Rejects with LedgerUnavailableError when it is not known whether the operation is done. */
  submit(operation: Operation): Promise<Outcome>;
}

export interface AppenderDeps {
  readonly collection: LedgerCollection;
  readonly heads: Heads;
  readonly now: () => number;
  readonly onBalance?: (account: string, available: Micros) => void;
  readonly meter?: LedgerMeter;
}

interface Waiting {
  readonly operation: Operation;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One queue for each account: while a batch is in flight, what arrives for the account gathers and becomes the next
 * one, so that a busy account costs one round trip for many operations.
 */
export function createAppender(deps: AppenderDeps): Appender {
  const queues = new Map<string, Waiting[]>();

  async function drain(account: string, queue: Waiting[]): Promise<void> {
    while (queue.length > 0) {
      // Whatever is submitted within one turn of the event loop forms one batch.
      await nextTurn();
      const batch = queue.splice(0, batchOperationsMax);
      const ended = deps.meter?.beginAppend();
      try {
        await append(deps, account, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      ended?.();
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
              `too many operations wait for account ${operation.account}`,
              undefined,
            ),
          );
        }
      }),
  };
}

interface Progress {
  left: readonly Waiting[];
  /** Read the head and every key before the next try: the cached head or our own answer proved unreliable. */
  fresh: boolean;
  conflicts: number;
  failures: number;
}

/** Tries until every operation of the batch has its outcome. Repeating is safe: `_id` and `key` are unique. */
async function append(deps: AppenderDeps, account: string, batch: readonly Waiting[]): Promise<void> {
  const progress: Progress = { left: batch, fresh: false, conflicts: 0, failures: 0 };
  const lastTryAt = deps.now() + triesEndAfterMs;
  while (progress.left.length > 0) {
    try {
      await tryOnce(deps, account, progress);
    } catch (error) {
      progress.fresh = true;
      progress.failures += 1;
      if (!isTransient(error)) throw error;
      if (progress.failures > failuresMax || deps.now() > lastTryAt) {
        throw new LedgerUnavailableError(`account ${account}: MongoDB does not answer`, error);
      }
      await sleep(failureWaitMs * 2 ** (progress.failures - 1));
    }
    if (progress.conflicts > conflictsMax) {
      throw new LedgerUnavailableError(
        `account ${account}: lost ${conflictsMax} consecutive races`,
        undefined,
      );
    }
    if (progress.conflicts > conflictsBeforeWaiting) {
      await sleep(Math.min(progress.conflicts, conflictWaitMsMax));
    }
  }
}

async function tryOnce(deps: AppenderDeps, account: string, progress: Progress): Promise<void> {
  const { collection, heads } = deps;
  const operations = progress.left.map(({ operation }) => operation);
  // The head before the keys: were it read after them, an operation done in between would look undone and unaffordable.
  const head = progress.fresh ? await heads.refresh(account) : await heads.get(account);
  const known = await findByKeys(
    collection,
    operations.flatMap(progress.fresh ? allKeys : keysBeforeFirstTry),
  );
  const plan = planBatch(operations, { head, known, at: deps.now() });
  if (!progress.fresh && plan.operations.some(({ outcome }) => outcome.state === 'refused')) {
    // The head may be behind a credit that another process wrote: no refusal rests on the cached head.
    progress.fresh = true;
    return;
  }
  await racePoint('ledger.append', account);
  const written = await insertInOrder(collection, plan.entries);
  const last = plan.entries[written - 1];
  if (last !== undefined) {
    heads.advance(account, last);
    deps.onBalance?.(account, last.available);
  }
  if (written < plan.entries.length) {
    heads.contest(account);
    deps.meter?.countCollision();
  }
  const decided = plan.operations.findIndex(({ entriesNeeded }) => entriesNeeded > written);
  const count = decided < 0 ? operations.length : decided;
  progress.left.slice(0, count).forEach(({ resolve }, index) => {
    const outcome = plan.operations[index]?.outcome;
    if (outcome !== undefined) resolve(outcome);
  });
  progress.left = progress.left.slice(count);
  progress.fresh = true;
  progress.conflicts = written > 0 ? 0 : progress.conflicts + 1;
}

/**
 * The connection, the server or its majority failed. What the server refuses for its content would be refused again.
 */
function isTransient(error: unknown): boolean {
  if (isNetworkFailure(error)) return true;
  if (!(error instanceof MongoError) || error instanceof MongoAPIError) return false;
  if (!(error instanceof MongoBulkWriteError)) return true;
  return [error.writeErrors].flat().length === 0 || error.result.getWriteConcernError() !== undefined;
}
