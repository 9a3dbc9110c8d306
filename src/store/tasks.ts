import { LRUCache } from 'lru-cache';
import type { Collection, Db, Filter, Sort } from 'mongodb';
import type { AttentionReason } from '../task/attention.ts';
import type { Task } from '../task/record.ts';
import { taskNamings, unfinishedStatuses } from '../task/task.ts';
import type { TaskNaming } from '../task/task.ts';
import { createFindById } from './find-by-id.ts';
import type { Sealing } from './sealed-document.ts';
import { durable, ensureIndexes, isOutage, openCollection, readByWrite, unlessThere } from './mongo.ts';
import { taskBills } from './task-bills.ts';
import { taskCallbacks } from './task-callbacks.ts';
import { taskCensus } from './task-census.ts';
import { sortKey } from './task-document.ts';
import type { TaskDocument } from './task-document.ts';
import { taskFlows } from './task-flows.ts';
import { endQuery, listQuery } from './task-query.ts';
import type { EndFilter, TaskFilter } from './task-query.ts';
import { taskSights } from './task-sights.ts';
import { taskSteps } from './task-steps.ts';
import { createTaskForm } from './task-words.ts';
import { waitingTasks } from './waiting-tasks.ts';
import type { TaskForm } from './task-words.ts';

export type { EndFilter, TaskFilter } from './task-query.ts';
export type { Stepped } from './task-steps.ts';

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  readonly limit: number;
  /** The last task of the page before, which may be removed meanwhile. */
  readonly after?: Pick<Task, 'id' | 'createdAt'>;
  /** Default: newest first. */
  readonly oldestFirst?: boolean;
}

interface EndPageRequest extends Pick<PageRequest, 'limit'> {
  readonly after?: { readonly id: string; readonly completedAt: number };
}

export interface NamedTask {
  readonly by: TaskNaming;
  readonly task: Task;
}

/** Callers choose their request ids: one may name any number of tasks. */
const namedMax = 20;

export type TaskStore = ReturnType<typeof createTaskStore>;

/** Records whose next change needs no read before it: a hint, since every change is guarded by the one before. */
const hintsMax = 1_000;

/** The records of tasks: read here, changed by task-steps.ts. */
export function createTaskStore(db: Db, now: () => number, sealing: Sealing) {
  const tasks = openCollection<TaskDocument>(db, 'tasks', durable);
  const form = createTaskForm(sealing);
  const hints = new LRUCache<string, Task>({ max: hintsMax });
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(tasks, [
        { key: { account: 1, sort: -1 }, name: 'account_sort' },
        { key: { account: 1, status: 1, sort: -1 }, name: 'account_status_sort' },
        { key: { account: 1, model: 1, sort: -1 }, name: 'account_model_sort' },
        { key: { key: 1, sort: -1 }, name: 'key_sort' },
        { key: { model: 1, sort: -1 }, name: 'model_sort' },
        { key: { status: 1, sort: -1 }, name: 'status_sort' },
        { key: { channel: 1, sort: -1 }, name: 'channel_sort', sparse: true },
        { key: { 'error.class': 1, sort: -1 }, name: 'error_class_sort', sparse: true },
        { key: { attention: 1, sort: -1 }, name: 'attention_sort', sparse: true },
        { key: { status: 1, deadlineAt: 1 }, name: 'status_deadline' },
        { key: { 'attempts.operation.id': 1 }, name: 'upstream_job', sparse: true },
        { key: { 'attempts.marker': 1 }, name: 'marker', sparse: true },
        { key: { requestId: 1 }, name: 'request', sparse: true },
        { key: { jobs: 1 }, name: 'jobs', unique: true, sparse: true },
        { key: { owes: 1 }, name: 'owes', sparse: true },
        { key: { gaveUp: 1 }, name: 'gave_up', sparse: true },
        { key: { unclaimed: -1 }, name: 'unclaimed', sparse: true },
        { key: { 'behind.place': 1, 'behind.deadlineAt': 1 }, name: 'behind', sparse: true },
        { key: { 'end.kind': 1, 'end.sort': -1, 'end.lateMs': 1 }, name: 'end', sparse: true },
      ]);
    },

    /** The first record. False: one exists already and is unchanged. */
    async insert(task: Task): Promise<boolean> {
      const isFirst = await unlessThere(() => tasks.insertOne(form.toDocument(task)));
      if (isFirst) hints.set(task.id, task);
      return isFirst;
    },
    /** Removes the records of those of these tasks that have ended; returns how many. */
    async removeEnded(ids: readonly string[]): Promise<number> {
      for (const id of ids) hints.delete(id);
      return (await tasks.deleteMany({ _id: { $in: [...ids] }, 'state.at': 'ended' })).deletedCount;
    },
    /** Whether the same write may succeed later. */
    isOutage,
    /** Removes what an abandoned creation has left. */
    async removeAbandoned(id: string): Promise<void> {
      hints.delete(id);
      await tasks.deleteOne({ _id: id, 'state.abandoned': { $exists: true } });
    },
    ...taskReads(tasks, { findById: createFindById(db, tasks), toTask: form.toTask }),
    ...taskSteps({ tasks, hints, now, form }),
    ...taskSights(tasks, now, form),
    ...taskCallbacks(tasks, now),
    ...taskCensus(tasks),
    ...taskFlows(tasks),
    ...taskBills(tasks),
    ...waitingTasks(tasks),
  };
}

interface TaskReading {
  readonly findById: ReturnType<typeof createFindById>;
  readonly toTask: TaskForm['toTask'];
}

function taskReads(tasks: Collection<TaskDocument>, { findById, toTask }: TaskReading) {
  async function* each(documents: AsyncIterable<TaskDocument>): AsyncIterable<Task> {
    for await (const document of documents) yield toTask(document);
  }

  async function all(filter: Filter<TaskDocument>): Promise<Task[]> {
    return (await tasks.find(filter).toArray()).map(toTask);
  }

  async function pageOf(filter: Filter<TaskDocument>, sort: Sort, limit: number): Promise<TaskPage> {
    const found = await tasks.find(filter, { sort, limit: limit + 1 }).toArray();
    return { tasks: found.slice(0, limit).map(toTask), hasMore: found.length > limit };
  }

  return {
    /** One document by `_id`. */
    async find(id: string): Promise<Task | undefined> {
      const found = await findById(id);
      return found === undefined ? undefined : toTask(found);
    },

    /** Many by `_id`, in no order: what waiting requests are answered from. */
    findMany: (ids: readonly string[]): Promise<Task[]> => all({ _id: { $in: [...ids] } }),

    /** Of a job that was replaced too. Several channels may use the same id; the newest task counts. */
    async findByUpstreamId(upstreamId: string): Promise<Task | undefined> {
      const found = await all({ 'attempts.operation.id': upstreamId });
      return found.toSorted((a, b) => b.createdAt - a.createdAt)[0];
    },

    /** What this text names: a task, a create's request, an upstream's job, a submission's marker; at most 20 of each. */
    async findNamed(name: string): Promise<NamedTask[]> {
      const queries = {
        task: { _id: name },
        request_id: { requestId: name },
        upstream_id: { 'attempts.operation.id': name },
        marker: { 'attempts.marker': name },
      } as const satisfies Record<TaskNaming, object>;
      const found = taskNamings.map(async (by) => {
        const documents = await tasks.find(queries[by]).limit(namedMax).toArray();
        return documents.map((document) => ({ by, task: toTask(document) }));
      });
      return (await Promise.all(found)).flat();
    },

    /** The task that has, or had, this job: what an operator is refused for. */
    async ownerOf(job: string): Promise<string | undefined> {
      const seen = await tasks.findOne({ jobs: job }, { projection: { _id: 1 } });
      if (seen === null) return undefined;
      return (await tasks.findOneAndUpdate({ _id: seen._id, jobs: job }, ...readByWrite))?._id;
    },

    async list(filter: TaskFilter, { limit, after, oldestFirst }: PageRequest): Promise<TaskPage> {
      const last = after && sortKey(after.createdAt, after.id);
      return pageOf(listQuery(filter, last, oldestFirst), { sort: oldestFirst === true ? 1 : -1 }, limit);
    },

    /** Tasks that have ended, the latest end first. */
    async listEnded(filter: EndFilter, { limit, after }: EndPageRequest): Promise<TaskPage> {
      const last = after && sortKey(after.completedAt, after.id);
      return pageOf(endQuery(filter, last), { 'end.sort': -1 }, limit);
    },

    /** Those of these tasks that the filter lets pass, by id. */
    async listThese(ids: readonly string[], filter: TaskFilter): Promise<Task[]> {
      const these = { ...listQuery(filter, undefined), _id: { $in: [...ids] } };
      return (await tasks.find(these).sort({ _id: 1 }).toArray()).map(toTask);
    },

    /** Every unfinished task, the most urgent of each status first, a batch in memory at a time. */
    async *unfinished(): AsyncIterable<Task> {
      for (const status of unfinishedStatuses) {
        yield* each(tasks.find({ status }).sort({ deadlineAt: 1 }));
      }
    },

    /** Tasks that ended before then (Unix milliseconds) and whose callers know it, the oldest of each end first. */
    async endedBefore(time: number, limit: number): Promise<string[]> {
      const found: string[] = [];
      for (const status of ['succeeded', 'failed'] as const) {
        const ended = { status, sort: { $lt: sortKey(time, '') } };
        const isOver = { 'state.at': 'ended', completedAt: { $lt: time }, owes: { $exists: false } } as const;
        const ids = tasks.find({ ...ended, ...isOver }, { projection: { _id: 1 } }).sort({ sort: 1 });
        found.push(...(await ids.limit(limit - found.length).toArray()).map(({ _id }) => _id));
        if (found.length >= limit) break;
      }
      return found;
    },

    /** Ids of an account's tasks, the oldest first, at most `limit`. */
    async idsOf(account: string, limit: number): Promise<string[]> {
      const found = tasks
        .find({ account }, { projection: { _id: 1 } })
        .sort({ sort: 1 })
        .limit(limit);
      return (await found.toArray()).map(({ _id }) => _id);
    },

    /** How many tasks an account has, and how many of them have not ended. */
    async countOf(account: string): Promise<{ readonly all: number; readonly unfinished: number }> {
      const [all, unfinished] = await Promise.all([
        tasks.countDocuments({ account }),
        tasks.countDocuments({ account, status: { $in: unfinishedStatuses } }),
      ]);
      return { all, unfinished };
    },

    /** Tasks that ask for a person, and why. */
    async *asking(reason: AttentionReason): AsyncIterable<Task> {
      yield* each(tasks.find({ attention: reason }).sort({ sort: -1 }));
    },

    /** Tasks that have ended, and whose callers do not know it. */
    async *owing(): AsyncIterable<Task> {
      yield* each(tasks.find({ owes: { $gt: '' } }).sort({ owes: 1 }));
    },
  };
}
