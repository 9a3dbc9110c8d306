import { defined } from '../domain/defined.ts';
import type { Collection, Db, Filter } from 'mongodb';
import { ensureIndexes, isDuplicateKey } from './mongo.ts';
import { classified, statusesBefore } from '../domain/task.ts';
import type { Cost } from '../domain/cost.ts';
import type { Failure, FailureClass } from '../domain/failure.ts';
import type { ResultItem, SettleFacts, TaskError, TaskKind, TaskStatus } from '../domain/task.ts';

/** The projection of a task: what GET shows, kept by the activities that change the facts. Times in Unix milliseconds. */
export interface TaskDocument {
  readonly _id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly status: TaskStatus;
  /** `workflowTime · 1000 + counter` of the last write that came from the workflow: an older write matches nothing. */
  readonly version: bigint;
  /** Sorts by creation, newest last; unique. */
  readonly sort: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at?: number;
  readonly deadline_at: number;
  readonly trace_id: string;
  readonly channel?: string;
  readonly credential?: string;
  readonly upstream_id?: string;
  /** 0-100. */
  readonly progress?: number;
  /** Jobs before this one in the upstream's queue, as it said last. */
  readonly queue_position?: number;
  /** Written by the poll that saw the end; visible to callers only once the status says so. */
  readonly outcome?: TaskOutcomeDocument;
  readonly error?: TaskError;
  readonly hold: bigint;
  readonly charge?: bigint;
  /** The upstream told no usage: the charge comes from the formula or the hold. */
  readonly charge_estimated?: boolean;
  /** Why an operator is needed; absent: none is. */
  readonly attention?: string;
  /** The key, while the task is unfinished: counts against the key's `concurrent_tasks`. */
  readonly open_key?: string;
  readonly actions?: readonly TaskActionRecord[];
}

export type TaskOutcomeDocument =
  | {
      readonly kind: 'succeeded';
      readonly items: readonly ResultItem[];
      readonly facts: SettleFacts;
      readonly cost?: Cost;
    }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      /** Absent in tasks of older versions. */
      readonly failure?: Failure;
      readonly cost?: Cost;
    };

export interface TaskActionRecord {
  readonly at: number;
  readonly by: string;
  readonly action: string;
  readonly reason: string;
}

export interface NewTask {
  readonly id: string;
  readonly account: string;
  readonly key: string;
  readonly kind: TaskKind;
  readonly model: string;
  readonly createdAt: number;
  readonly deadlineAt: number;
  readonly hold: bigint;
}

export interface TaskFilter {
  readonly account?: string;
  readonly status?: TaskStatus;
  readonly model?: string;
  readonly channel?: string;
  readonly kind?: TaskKind;
  /** Of failed tasks. */
  readonly failureClass?: FailureClass;
  readonly needsAttention?: boolean;
  /** Unix seconds, inclusive and exclusive. */
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

export interface TaskPage {
  readonly tasks: readonly TaskDocument[];
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

const actionsMax = 100;

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
        { key: { open_key: 1 }, name: 'open_key', sparse: true },
      ]);
    },
    ...taskReads(tasks),
    ...taskWrites(tasks, now),
  };
}

function taskReads(tasks: Collection<TaskDocument>) {
  return {
    /** One document by `_id`. */
    async find(id: string): Promise<TaskDocument | undefined> {
      return (await tasks.findOne({ _id: id })) ?? undefined;
    },

    /** Many by `_id`, in no order: what waiting requests are answered from. */
    async findMany(ids: readonly string[]): Promise<TaskDocument[]> {
      return tasks.find({ _id: { $in: [...ids] } }).toArray();
    },

    /** Unfinished tasks of a key, counted no further than `limit`. */
    async countOpen(key: string, limit: number): Promise<number> {
      return tasks.countDocuments({ open_key: key }, { limit });
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
      return { tasks: found.slice(0, page.limit), hasMore: found.length > page.limit };
    },

    /** Unfinished tasks whose deadline passed before `before`: what the reconciler repairs. */
    async listOverdue(before: number, limit: number): Promise<TaskDocument[]> {
      return tasks
        .find({ status: { $in: statusesBefore('failed') }, deadline_at: { $lt: before } })
        .limit(limit)
        .toArray();
    },
  };
}

function taskWrites(tasks: Collection<TaskDocument>, now: () => number) {
  return {
    /** Inserts the first projection; one that is there already stays as it is (a repeated admission). */
    async insert(task: NewTask, version: bigint): Promise<void> {
      const { id, createdAt, deadlineAt, ...facts } = task;
      const document: TaskDocument = {
        _id: id,
        ...facts,
        status: 'pending',
        version,
        sort: sortKey(createdAt, id),
        created_at: createdAt,
        updated_at: createdAt,
        deadline_at: deadlineAt,
        trace_id: '',
        open_key: task.key,
      };
      try {
        await tasks.insertOne(document);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    },

    async markSubmitted(id: string, facts: SubmittedWrite): Promise<void> {
      const { version, channel, credential, upstreamId, traceId } = facts;
      await tasks.updateOne(
        { _id: id, version: { $lt: version }, status: { $in: statusesBefore('submitted') } },
        {
          $set: {
            status: 'submitted',
            version,
            channel,
            credential,
            upstream_id: upstreamId,
            trace_id: traceId,
            updated_at: now(),
          },
          $unset: { attention: '' },
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

    /** What the upstream delivered, before it is paid and visible. The first word counts. */
    async recordOutcome(id: string, outcome: TaskOutcomeDocument, traceId?: string): Promise<void> {
      await tasks.updateOne(
        { _id: id, status: { $in: statusesBefore('succeeded') }, outcome: { $exists: false } },
        { $set: { outcome, updated_at: now(), ...defined({ trace_id: traceId }) } },
      );
    },

    /** The files stay what they are; where they lie changes. */
    async replaceItems(id: string, items: readonly ResultItem[]): Promise<void> {
      await tasks.updateOne(
        { _id: id, 'outcome.kind': 'succeeded' },
        { $set: { 'outcome.items': [...items] } },
      );
    },

    async setAttention(id: string, reason: string | undefined, version: bigint): Promise<void> {
      await tasks.updateOne(
        { _id: id, version: { $lt: version } },
        reason === undefined
          ? { $set: { version, updated_at: now() }, $unset: { attention: '' } }
          : { $set: { version, attention: reason, updated_at: now() } },
      );
    },

    /** Terminal states are written once: the guard is the transition rule. */
    async finish(id: string, write: TerminalWrite): Promise<void> {
      const at = now();
      await tasks.updateOne(
        { _id: id, version: { $lt: write.version }, status: { $in: statusesBefore(write.status) } },
        {
          $set: {
            status: write.status,
            version: write.version,
            charge: write.charge,
            charge_estimated: write.chargeEstimated,
            completed_at: at,
            updated_at: at,
            ...defined({ error: write.error === undefined ? undefined : classified(write.error) }),
          },
          $unset: { open_key: '', attention: '' },
        },
      );
    },

    /** Takes back the projection of a creation that was refused after all; a task that was sent stays. */
    async removeUnadmitted(id: string): Promise<void> {
      await tasks.deleteOne({ _id: id, status: 'pending' });
    },

    async recordAction(id: string, record: TaskActionRecord): Promise<void> {
      await tasks.updateOne({ _id: id }, { $push: { actions: { $each: [record], $slice: -actionsMax } } });
    },
  };
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

/** Fixed width, so that strings sort as times do. */
function sortKey(createdAt: number, id: string): string {
  return `${createdAt.toString().padStart(14, '0')}-${id}`;
}

function listQuery(filter: TaskFilter, before: string | undefined): Filter<TaskDocument> {
  const upper = [
    before,
    filter.createdBefore === undefined ? undefined : sortKey(filter.createdBefore * 1000, ''),
  ]
    .filter((bound) => bound !== undefined)
    .sort()[0];
  const lower = filter.createdAfter === undefined ? undefined : sortKey(filter.createdAfter * 1000, '');
  const range = {
    ...defined({ $lt: upper }),
    ...defined({ $gte: lower }),
  };
  return {
    ...defined({ account: filter.account }),
    ...defined({ status: filter.status }),
    ...defined({ model: filter.model }),
    ...defined({ channel: filter.channel }),
    ...defined({ kind: filter.kind }),
    ...defined({ 'error.class': filter.failureClass }),
    ...(filter.needsAttention === true ? { attention: { $exists: true } } : {}),
    ...(Object.keys(range).length === 0 ? {} : { sort: range }),
  };
}
