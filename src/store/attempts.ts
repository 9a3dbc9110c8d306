import type { Collection, Db } from 'mongodb';
import { defined } from '../domain/defined.ts';
import { attemptId } from '../domain/ids.ts';
import type { Failure } from '../domain/failure.ts';
import type { RouteCandidate } from '../domain/routing.ts';
import type { Operation } from '../providers/provider.ts';
import { toAttempt } from './attempt-document.ts';
import type { AttemptDocument } from './attempt-document.ts';
import { attemptIndexes, jobKey } from './attempt-indexes.ts';
import { durable, ensureIndexes, isDuplicateKey } from './mongo.ts';

/**
 * One upstream submission. Written before the request leaves and again when the answer is read: a process that dies
 * in between leaves `sending`, which means that the job may exist upstream and may be billed. Times in Unix
 * milliseconds.
 */
export interface Attempt extends NewAttempt {
  readonly state: AttemptState;
  /** Which run of the activity has the right to send; only that run may write down a refusal. */
  readonly owner?: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly operation?: Operation;
  readonly upstreamId?: string;
  /** An upstream job that was accepted after the attempt was abandoned: an operator may have to cancel it there. */
  readonly stray?: Operation;
  /** An operator named the job: only such an acceptance can be taken back. */
  readonly adopted?: boolean;
  readonly code?: string;
  readonly message?: string;
  /** What the upstream's refusal or failure was. */
  readonly failure?: Failure;
}

/**
 * - `sending`: claimed; the request may have left.
 * - `accepted`: the upstream has the job. Final, unless the job fails and is replaced.
 * - `failed`: the upstream had the job and has failed it, and the task continues elsewhere. Final.
 * - `not_accepted`: certainly not, so the same attempt may be resubmitted.
 * - `rejected`: the upstream refused the request itself. Final.
 * - `ambiguous`: the answer does not say.
 * - `withdrawn`: certainly not accepted, and never to be sent (again). Final.
 * - `abandoned`: ambiguous, and an operator had the task submitted again. Final.
 */
export const attemptStates = [
  'sending', 'accepted', 'failed', 'not_accepted', 'rejected', 'ambiguous', 'withdrawn', 'abandoned',
] as const; // prettier-ignore
export type AttemptState = (typeof attemptStates)[number];

/** What an answer of the upstream turns a `sending` attempt into. */
export type RefusedState = 'not_accepted' | 'rejected' | 'ambiguous' | 'withdrawn';

export interface NewAttempt {
  readonly task: string;
  readonly n: number;
  readonly channel: string;
  readonly credential: string;
  readonly marker: string;
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly failure?: Failure;
}

/** `taken`: another attempt has this upstream job. `closed`: this attempt was abandoned, or has another job. */
export type Acceptance = 'accepted' | 'taken' | 'closed';

export type AttemptStore = ReturnType<typeof createAttemptStore>;

/** A write that collides with a document which no majority read shows is tried this often: the document may vanish. */
const collisionsMax = 5;
const collisionPauseMs = 200;

/**
 * Every change filters on the states that it may come from, so what ends an attempt is a write that no earlier run can
 * undo: `failed`, `rejected`, `withdrawn` and `abandoned` are never left, and `accepted` only for `failed`, or by
 * `disown`: an acceptance that no upstream reported but an operator, and that an operator takes back.
 */
export function createAttemptStore(db: Db, now: () => number) {
  const attempts: Collection<AttemptDocument> = db.collection<AttemptDocument>('attempts', durable);
  return {
    ensureIndexes: (): Promise<void> => ensureIndexes(attempts, attemptIndexes),
    ...attemptReads(attempts),
    ...attemptClaims(attempts, now),
    ...attemptJobs(attempts, now),
    ...attemptEndings(attempts, now),
    ...attemptDisowning(attempts),
  };
}

function attemptReads(attempts: Collection<AttemptDocument>) {
  return {
    find: (id: string) => findAttempt(attempts, id),

    async ofTask(task: string): Promise<Attempt[]> {
      return (await attempts.find({ task }).sort({ n: 1 }).toArray()).map(toAttempt);
    },

    /** Several channels may use the same id; the newest attempt counts. */
    async findByUpstreamId(upstreamId: string): Promise<Attempt | undefined> {
      const found = await attempts.find({ upstream_id: upstreamId }).toArray();
      return found.map(toAttempt).sort((a, b) => b.startedAt - a.startedAt)[0];
    },
  };
}

function attemptClaims(attempts: Collection<AttemptDocument>, now: () => number) {
  /** One that is certainly not accepted is claimed again. */
  async function reclaim(id: string, owner: string): Promise<boolean> {
    const reclaimed = await attempts.updateOne(
      { _id: id, state: 'not_accepted' },
      {
        $set: { state: 'sending', owner, started_at: now() },
        $unset: { ended_at: '', code: '', message: '' },
      },
    );
    return reclaimed.modifiedCount === 1;
  }

  async function insert(attempt: NewAttempt, facts: Partial<AttemptDocument>): Promise<boolean> {
    const id = attemptId(attempt.task, attempt.n);
    try {
      await attempts.insertOne({ _id: id, ...attempt, state: 'sending', started_at: now(), ...facts });
      return true;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return false;
    }
  }

  return {
    /**
     * Claims the right to send for this run of the activity, whose name is `owner`. Undefined: it is ours, send.
     * Otherwise the document says how far an earlier run came. Repeatable with the same owner while the outcome of
     * the write is unknown. Rejects, and gives no right, when the document that it collides with cannot be read.
     */
    async begin(attempt: NewAttempt, owner: string): Promise<Attempt | undefined> {
      const id = attemptId(attempt.task, attempt.n);
      for (let tries = 0; tries < collisionsMax; tries += 1) {
        if (tries > 0) await pause(collisionPauseMs);
        if (await insert(attempt, { owner })) return undefined;
        if (await reclaim(id, owner)) return undefined;
        const found = await findAttempt(attempts, id);
        if (found?.state === 'sending' && found.owner === owner) return undefined;
        if (found !== undefined) return found;
      }
      throw new CollisionError(id);
    },

    /**
     * Makes sure that an attempt which was not sent never will be: inserted, so that a later `begin` collides with it,
     * or changed, if it certainly was not accepted. Returns what the record says afterwards: `withdrawn`, or the state
     * of a submission that has left.
     */
    async withdraw(attempt: NewAttempt, word: Refusal): Promise<Attempt> {
      const id = attemptId(attempt.task, attempt.n);
      for (let tries = 0; tries < collisionsMax; tries += 1) {
        if (tries > 0) await pause(collisionPauseMs);
        const facts = { state: 'withdrawn', ended_at: now(), ...word } as const;
        if (!(await insert(attempt, facts))) {
          // The code of a refusal that is on record says more than ours.
          await attempts.updateOne(
            { _id: id, state: 'not_accepted' },
            { $set: { state: 'withdrawn', ended_at: now() } },
          );
        }
        const found = await findAttempt(attempts, id);
        if (found !== undefined) return found;
      }
      throw new CollisionError(id);
    },
  };
}

function attemptJobs(attempts: Collection<AttemptDocument>, now: () => number) {
  return {
    /**
     * The upstream has the job. Repeatable; what was abandoned or has another job stays as it is. `adopted`: an operator
     * says so.
     */
    async accept(
      id: string,
      { channel, adopted }: Pick<RouteCandidate, 'channel'> & { readonly adopted?: true },
      operation: Operation,
    ): Promise<Acceptance> {
      const job = jobKey(channel, operation.id);
      const facts = {
        state: 'accepted',
        operation,
        upstream_id: operation.id,
        job,
        ended_at: now(),
        ...defined({ adopted }),
      } as const;
      try {
        const changed = await attempts.updateOne(
          { _id: id, state: { $in: ['sending', 'ambiguous'] } },
          { $set: facts, $unset: { code: '', message: '' } },
        );
        if (changed.matchedCount === 1) return 'accepted';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
      const found = await findAttempt(attempts, id);
      const isKnown = found?.state === 'accepted' || found?.state === 'failed';
      if (isKnown && found.upstreamId === operation.id) return 'accepted';
      await attempts.updateOne({ _id: id }, { $set: { stray: operation } });
      return 'closed';
    },

    /**
     * The upstream has failed the job, and the task continues with another one: this job is its end no longer, whatever
     * is reported of it later. Repeatable. False: the attempt has no job.
     */
    async fail(id: string, word: Refusal): Promise<boolean> {
      await attempts.updateOne(
        { _id: id, state: 'accepted' },
        { $set: { state: 'failed', ...word, ended_at: now() } },
      );
      return (await findAttempt(attempts, id))?.state === 'failed';
    },
  };
}

function attemptEndings(attempts: Collection<AttemptDocument>, now: () => number) {
  return {
    /** The answer to what `owner` sent. False: the record had been changed by somebody else, and stays so. */
    async refuse(
      { id, owner }: { readonly id: string; readonly owner: string },
      state: RefusedState,
      word: Refusal,
    ): Promise<boolean> {
      const changed = await attempts.updateOne(
        { _id: id, state: { $in: ['sending', state] }, owner },
        { $set: { state, ...word, ended_at: now() } },
      );
      return changed.matchedCount === 1;
    },

    /**
     * The next attempt is about to be made: because this one was certainly not accepted, or because an operator has
     * the task submitted again. It is never resubmitted, and a late response to it does not become the task's job.
     * Returns what the record says afterwards; `accepted` means that there is a job, and no next attempt.
     */
    async supersede(id: string): Promise<Attempt | undefined> {
      await attempts.updateOne(
        { _id: id, state: { $in: ['sending', 'ambiguous'] } },
        { $set: { state: 'abandoned', ended_at: now() } },
      );
      await attempts.updateOne(
        { _id: id, state: 'not_accepted' },
        { $set: { state: 'withdrawn', ended_at: now() } },
      );
      return findAttempt(attempts, id);
    },
  };
}

function attemptDisowning(attempts: Collection<AttemptDocument>) {
  return {
    /** The job that an operator named is not this attempt's: its outcome is unknown again. Repeatable. */
    async disown(id: string, upstreamId: string): Promise<void> {
      await attempts.updateOne(
        { _id: id, state: 'accepted', adopted: true, upstream_id: upstreamId },
        {
          $set: {
            state: 'ambiguous',
            code: 'adoption_undone',
            message: `${upstreamId} was adopted, and taken back.`,
          },
          $unset: { operation: '', upstream_id: '', job: '', adopted: '' },
        },
      );
    },
  };
}

async function findAttempt(attempts: Collection<AttemptDocument>, id: string): Promise<Attempt | undefined> {
  const found = await attempts.findOne({ _id: id });
  return found === null ? undefined : toAttempt(found);
}

/** A write is there, but not yet on the majority: it may still be rolled back. Nothing may be sent meanwhile. */
class CollisionError extends Error {
  constructor(id: string) {
    super(`the record of attempt ${id} exists but cannot be read by the majority yet; retrying`);
    this.name = 'CollisionError';
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
