import type { AttentionReason } from '../domain/attention.ts';
export type { NewTask } from './task-document.ts';
export type { TaskFilter } from './task-query.ts';
import { listQuery } from './task-query.ts';
import type { TaskFilter } from './task-query.ts';
import { taskActions } from './task-actions.ts';
import { taskCreation } from './task-creation.ts';
import { paddedTime, toTask } from './task-document.ts';
import type { TaskDocument } from './task-document.ts';
import { defined } from '../domain/defined.ts';
import type { Collection, Db, Filter } from 'mongodb';
import { createFindById } from './find-by-id.ts';
import { ensureIndexes } from './mongo.ts';
import type { Task, TaskOutcome } from '../domain/task-record.ts';
import type { RouteCandidate } from '../domain/routing.ts';
import { classified, statusesBefore } from '../domain/task.ts';
import type { WaitReason } from '../domain/wait-reason.ts';
import type { ResultItem, TaskError, TaskStatus } from '../domain/task.ts';

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
}

export interface TerminalWrite {
  readonly status: 'succeeded' | 'failed';
  readonly version: bigint;
  readonly charge: bigint;
  readonly chargeEstimated: boolean;
  readonly error?: TaskError;
}

export type TaskStore = ReturnType<typeof createTaskStore>;

export function createTaskStore(db: Db, now: () => number) {
  const tasks: Collection<TaskDocument> = db.collection<TaskDocument>('tasks');
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(tasks, [
        { key: { account: 1, sort: -1 }, name: 'account_sort' },
        { key: { account: 1, status: 1, sort: -1 }, name: 'account_status_sort' },
        { key: { account: 1, model: 1, sort: -1 }, name: 'account_model_sort' },
        { key: { status: 1, sort: -1 }, name: 'status_sort' },
        { key: { channel: 1, sort: -1 }, name: 'channel_sort', sparse: true },
        { key: { 'error.class': 1, sort: -1 }, name: 'error_class_sort', sparse: true },
        { key: { attention: 1, sort: -1 }, name: 'attention_sort', sparse: true },
        { key: { status: 1, deadline_at: 1 }, name: 'status_deadline' },
        { key: { unstarted: 1 }, name: 'unstarted', sparse: true },
      ]);
    },
    ...taskReads(tasks, createFindById(db, tasks)),
    ...taskCreation(tasks),
    ...jobWrites(tasks, now),
    ...taskWrites(tasks, now),
    ...taskActions(tasks, now),
  };
}

function taskReads(tasks: Collection<TaskDocument>, findById: ReturnType<typeof createFindById>) {
  return {
    /** One document by `_id`. */
    async find(id: string): Promise<Task | undefined> {
      const found = await findById(id);
      return found === undefined ? undefined : toTask(found);
    },

    /** Many by `_id`, in no order: what waiting requests are answered from. */
    async findMany(ids: readonly string[]): Promise<Task[]> {
      return (await tasks.find({ _id: { $in: [...ids] } }).toArray()).map(toTask);
    },

    /** Newest first; `after` is the id of the last task of the page before. */
    async list(
      filter: TaskFilter,
      page: { readonly limit: number; readonly after?: string },
    ): Promise<TaskPage> {
      const cursor = page.after === undefined ? undefined : await tasks.findOne({ _id: page.after });
      if (
        cursor === null ||
        (cursor !== undefined && filter.account !== undefined && cursor.account !== filter.account)
      ) {
        return { tasks: [], hasMore: false };
      }
      const found = await tasks
        .find(listQuery(filter, cursor?.sort))
        .sort({ sort: -1 })
        .limit(page.limit + 1)
        .toArray();
      return { tasks: found.slice(0, page.limit).map(toTask), hasMore: found.length > page.limit };
    },

    /** Those of these tasks that the filter lets pass, by id. */
    async listThese(ids: readonly string[], filter: TaskFilter): Promise<Task[]> {
      const these = { ...listQuery(filter, undefined), _id: { $in: [...ids] } };
      return (await tasks.find(these).sort({ _id: 1 }).toArray()).map(toTask);
    },

    /** Unfinished tasks whose deadline passed before `before`, all of them, a batch in memory at a time. */
    async *overdue(before: number): AsyncIterable<Task> {
      for (const status of statusesBefore('failed')) {
        yield* eachTask(tasks.find({ status, deadline_at: { $lt: before } }).sort({ deadline_at: 1 }));
      }
    },

    /** Tasks that ask for a person, and why. */
    async *asking(reason: AttentionReason): AsyncIterable<Task> {
      yield* eachTask(tasks.find({ attention: reason }).sort({ sort: -1 }));
    },

    /** Tasks that no workflow has claimed since `before` (Unix milliseconds). */
    async *unstarted(before: number): AsyncIterable<Task> {
      yield* eachTask(tasks.find({ unstarted: { $lt: paddedTime(before) } }).sort({ unstarted: 1 }));
    },
  };
}

async function* eachTask(documents: AsyncIterable<TaskDocument>): AsyncIterable<Task> {
  for await (const document of documents) yield toTask(document);
}

function jobWrites(tasks: Collection<TaskDocument>, now: () => number) {
  return {
    async markSubmitted(id: string, facts: SubmittedWrite): Promise<void> {
      await tasks.updateOne(
        { _id: id, version: { $lt: facts.version }, status: { $in: statusesBefore('submitted') } },
        {
          $set: { ...jobFields(facts), status: 'submitted', updated_at: now() },
          $unset: { attention: '', waits_for: '' },
        },
      );
    },

    /**
     * The task's job was replaced by this one: what is known of the former is dropped. The status stays, which only
     * moves forward.
     */
    async replaceJob(id: string, facts: SubmittedWrite): Promise<void> {
      const { version, channel, upstreamId } = facts;
      await tasks.updateOne(
        {
          _id: id,
          version: { $lt: version },
          status: { $in: ['submitted', 'running'] },
          $or: [{ channel: { $ne: channel } }, { upstream_id: { $ne: upstreamId } }],
        },
        {
          $set: { ...jobFields(facts), updated_at: now() },
          $unset: { outcome: '', progress: '', queue_position: '', attention: '', waits_for: '' },
        },
      );
    },

    async markRunning(id: string, version: bigint): Promise<void> {
      await tasks.updateOne(
        { _id: id, version: { $lte: version }, status: { $in: statusesBefore('running') } },
        { $set: { status: 'running', version, updated_at: now() } },
      );
    },

    async recordProgress(id: string, { progress, queuePosition }: ProgressWrite): Promise<void> {
      await tasks.updateOne(
        { _id: id, status: { $in: statusesBefore('succeeded') } },
        { $set: { updated_at: now(), ...defined({ progress, queue_position: queuePosition }) } },
      );
    },

    /**
     * What the upstream delivered, before it is paid and visible. The first outcome counts, but a success replaces a
     * failure. `job`: of which it is reported; one that was replaced meanwhile, or that an operator has taken back, has no
     * outcome. False: it was not recorded.
     */
    async recordOutcome(id: string, outcome: TaskOutcome, of: OutcomeSource = {}): Promise<boolean> {
      const { traceId, job } = of;
      const replaceable: Filter<TaskDocument> =
        outcome.kind === 'succeeded'
          ? { 'outcome.kind': { $ne: 'succeeded' } }
          : { outcome: { $exists: false } };
      const recorded = await tasks.updateOne(
        {
          _id: id,
          status: { $in: statusesBefore('succeeded') },
          ...replaceable,
          ...(job === undefined ? {} : ofShownJob(job)),
        },
        { $set: { outcome, updated_at: now(), ...defined({ trace_id: traceId }) } },
      );
      return recorded.matchedCount === 1;
    },

    /** The files stay what they are; where they lie changes. */
    async replaceItems(id: string, items: readonly ResultItem[]): Promise<void> {
      await tasks.updateOne(
        { _id: id, 'outcome.kind': 'succeeded' },
        { $set: { 'outcome.items': [...items] } },
      );
    },
  };
}

function taskWrites(tasks: Collection<TaskDocument>, now: () => number) {
  return {
    async setAttention(id: string, reason: AttentionReason | undefined, version: bigint): Promise<void> {
      await tasks.updateOne(
        { _id: id, version: { $lt: version } },
        reason === undefined
          ? { $set: { version, updated_at: now() }, $unset: { attention: '', waits_for: '' } }
          : { $set: { version, attention: reason, updated_at: now() }, $unset: { waits_for: '' } },
      );
    },

    /** Where the task may have a job that the upstream has not reported; one that is known stays shown. */
    async showLost(id: string, { channel, credential }: RouteCandidate, version: bigint): Promise<void> {
      await tasks.updateOne(
        { _id: id, version: { $lt: version }, upstream_id: { $exists: false } },
        { $set: { channel, credential } },
      );
    },

    /**
     * What a task waits for that is not accepted yet: the guards keep a late process from saying it of one that is, and
     * match nothing when it is known already.
     */
    async setWait(id: string, reason: WaitReason | undefined, version: bigint): Promise<void> {
      const waiting = { _id: id, version: { $lt: version }, status: { $in: statusesBefore('succeeded') } };
      if (reason === undefined) {
        const known = { ...waiting, waits_for: { $exists: true } };
        await tasks.updateOne(known, { $unset: { waits_for: '' }, $set: { updated_at: now() } });
      } else {
        const other = { ...waiting, waits_for: { $ne: reason } };
        await tasks.updateOne(other, { $set: { waits_for: reason, updated_at: now() } });
      }
    },

    /**
     * Terminal states are written once: the guard is the transition rule. No version guards them, because the ledger
     * has decided before. Resolves with the task's status now; undefined: it has no projection.
     */
    async finish(id: string, write: TerminalWrite): Promise<TaskStatus | undefined> {
      const at = now();
      const finished = await tasks.updateOne(
        { _id: id, status: { $in: statusesBefore(write.status) } },
        {
          $set: {
            status: write.status,
            charge: write.charge,
            charge_estimated: write.chargeEstimated,
            completed_at: at,
            updated_at: at,
            ...defined({ error: write.error === undefined ? undefined : classified(write.error) }),
          },
          $max: { version: write.version },
          $unset: { attention: '', waits_for: '', unstarted: '' },
        },
      );
      if (finished.matchedCount === 1) return write.status;
      return (await tasks.findOne({ _id: id }, majority))?.status;
    },
  };
}

/** Which job an outcome is of; both absent: the submission was refused. */
export interface OutcomeSource {
  readonly traceId?: string | undefined;
  readonly job?: { readonly channel: string; readonly upstreamId: string };
}

export interface ProgressWrite {
  /** 0-100. */
  readonly progress?: number;
  readonly queuePosition?: number;
}

export interface SubmittedWrite {
  readonly version: bigint;
  readonly channel: string;
  readonly credential: string;
  readonly upstreamId: string;
  readonly traceId: string;
}

/** What a document shows of the job that the task waits for. */
function jobFields({ version, channel, credential, upstreamId, traceId }: SubmittedWrite) {
  return { version, channel, credential, upstream_id: upstreamId, trace_id: traceId };
}

/** A task shows the job that it waits for; one whose projection was restored shows none. */
function ofShownJob({ channel, upstreamId }: NonNullable<OutcomeSource['job']>): Filter<TaskDocument> {
  return {
    disowned: { $ne: upstreamId },
    $or: [{ upstream_id: upstreamId, channel }, { upstream_id: { $exists: false } }],
  };
}

const majority = { readConcern: 'majority' } as const;
