import { createRecent } from '../base/recent.ts';
import type { Collection, Db, Filter, Sort } from 'mongodb';
import type { Reach } from '../base/key-scope.ts';
import { taskKinds } from '../base/task-kind.ts';
import type { AttentionReason } from '../task/attention.ts';
import { callbackStates, type CallbackState } from '../task/callback-record.ts';
import type { Task } from '../task/record.ts';
import { unfinishedStatuses } from '../task/task.ts';
import { createFindById } from './find-by-id.ts';
import { durable, ensureIndexes, isOutage, openCollection, readByWrite, unlessThere } from './mongo.ts';
import { taskBills } from './reports/bills.ts';
import { taskCallbacks } from './task-callbacks.ts';
import { taskCensus } from './reports/census.ts';
import { logOf, sortKey, type TaskDocument } from './task-document.ts';
import { taskFlows } from './reports/flows.ts';
import { endQuery, listQuery, type EndFilter, type TaskFilter } from './task-query.ts';
import { taskNames } from './task-names.ts';
import { taskSights } from './task-sights.ts';
import { taskSteps } from './task-steps.ts';
import { createTaskForm, type TaskForm, type TaskSealing } from './task-words.ts';
import { waitingTasks } from './waiting-tasks.ts';

export type { EndFilter, TaskFilter } from './task-query.ts';

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  readonly limit: number;
  /** The last task of the previous page. It may have been removed since. */
  readonly after?: Pick<Task, 'id' | 'createdAt'>;
  readonly oldestFirst?: boolean;
}

interface CallbackPageRequest extends Omit<PageRequest, 'oldestFirst'> {
  readonly state?: CallbackState;
}

interface EndPageRequest extends Pick<PageRequest, 'limit'> {
  readonly after?: { readonly id: string; readonly completedAt: number };
}

export type TaskStore = ReturnType<typeof createTaskStore>;

/**
 * The number of records remembered, so that they need not be read before their next change. They are only hints,
 * because every change checks the revision.
 */
const hintsMax = 1_000;

/** Only task-steps.ts changes the state of tasks. */
export function createTaskStore(db: Db, now: () => number, sealing: TaskSealing) {
  const tasks = openCollection<TaskDocument>(db, 'tasks', durable);
  const form = createTaskForm(sealing);
  const hints = createRecent<Task>(hintsMax);
  return {
    async ensureIndexes(): Promise<void> {
      await ensureIndexes(tasks, [
        { key: { account: 1, kind: 1, status: 1, sort: -1 }, name: 'account_sort' },
        { key: { account: 1, kind: 1, model: 1, status: 1, sort: -1 }, name: 'account_model_sort' },
        { key: { key: 1, kind: 1, status: 1, sort: -1 }, name: 'key_sort' },
        { key: { key: 1, kind: 1, model: 1, status: 1, sort: -1 }, name: 'key_model_sort' },
        { key: { model: 1, sort: -1 }, name: 'model_sort' },
        { key: { status: 1, sort: -1 }, name: 'status_sort' },
        { key: { channel: 1, sort: -1 }, name: 'channel_sort', sparse: true },
        { key: { 'error.class': 1, sort: -1 }, name: 'error_class_sort', sparse: true },
        { key: { attention: 1, sort: -1 }, name: 'attention_sort', sparse: true },
        { key: { status: 1, deadlineAt: 1 }, name: 'status_deadline' },
        { key: { parts: 1 }, name: 'parts' },
        { key: { 'attempts.operation.id': 1 }, name: 'upstream_job', sparse: true },
        { key: { 'attempts.marker': 1 }, name: 'marker', sparse: true },
        { key: { requestId: 1 }, name: 'request', sparse: true },
        { key: { jobs: 1 }, name: 'jobs', unique: true, sparse: true },
        { key: { owes: 1 }, name: 'owes', sparse: true },
        { key: { gaveUp: 1 }, name: 'gave_up', sparse: true },
        { key: { 'log.of': 1, 'callback.state': 1, 'log.sort': -1 }, name: 'callback_log', sparse: true },
        { key: { 'said.terms': 1, 'said.sort': -1 }, name: 'said', sparse: true },
        { key: { unclaimed: -1 }, name: 'unclaimed', sparse: true },
        { key: { 'behind.place': 1, 'behind.deadlineAt': 1 }, name: 'behind', sparse: true },
        { key: { 'end.kind': 1, 'end.sort': -1, 'end.lateMs': 1 }, name: 'end', sparse: true },
      ]);
    },

    async insert(task: Task): Promise<boolean> {
      const isFirst = await unlessThere(() => tasks.insertOne(form.toDocument(task)));
      if (isFirst) hints.set(task.id, task);
      return isFirst;
    },
    async removeEnded(ids: readonly string[]): Promise<number> {
      for (const id of ids) hints.delete(id);
      return (await tasks.deleteMany({ _id: { $in: [...ids] }, 'state.at': 'ended' })).deletedCount;
    },
    isOutage,
    async removeAbandoned(id: string): Promise<void> {
      hints.delete(id);
      await tasks.deleteOne({ _id: id, 'state.abandoned': { $exists: true } });
    },
    ...taskLists(tasks, form),
    ...taskReads(db, tasks, form),
    ...taskNames(tasks, { ...sealing, ...form }),
    ...taskSteps({ tasks, hints, now, form }),
    ...taskSights(tasks, now, form),
    ...taskCallbacks(tasks, now),
    ...taskCensus(tasks),
    ...taskFlows(tasks),
    ...taskBills(tasks),
    ...waitingTasks(tasks),
  };
}

function taskLists(tasks: Collection<TaskDocument>, { toTask }: Pick<TaskForm, 'toTask'>) {
  async function pageOf(filter: Filter<TaskDocument>, sort: Sort, limit: number): Promise<TaskPage> {
    const found = await tasks.find(filter, { sort, limit: limit + 1 }).toArray();
    return { tasks: found.slice(0, limit).map(toTask), hasMore: found.length > limit };
  }

  return {
    async list(filter: TaskFilter, { limit, after, oldestFirst }: PageRequest): Promise<TaskPage> {
      const last = after && sortKey(after.createdAt, after.id);
      return pageOf(listQuery(filter, last, oldestFirst), { sort: oldestFirst === true ? 1 : -1 }, limit);
    },

    async listCallbacks(reach: Reach, { state, limit, after }: CallbackPageRequest): Promise<TaskPage> {
      const before = after && { 'log.sort': { $lt: sortKey(after.createdAt, after.id) } };
      const states = state === undefined ? callbackStates : [state];
      const sent = { 'log.of': logOf(reach), 'callback.state': { $in: states }, ...before };
      return pageOf(sent, { 'log.sort': -1 }, limit);
    },

    async listEnded(filter: EndFilter, { limit, after }: EndPageRequest): Promise<TaskPage> {
      const last = after && sortKey(after.completedAt, after.id);
      return pageOf(endQuery(filter, last), { 'end.sort': -1 }, limit);
    },

    async listThese(ids: readonly string[], filter: TaskFilter): Promise<Task[]> {
      const these = { ...listQuery(filter, undefined), _id: { $in: [...ids] } };
      return (await tasks.find(these).sort({ _id: 1 }).toArray()).map(toTask);
    },
  };
}

function taskReads(db: Db, tasks: Collection<TaskDocument>, { toTask }: Pick<TaskForm, 'toTask'>) {
  const findById = createFindById(db, tasks);

  async function* each(documents: AsyncIterable<TaskDocument>): AsyncIterable<Task> {
    for await (const document of documents) yield toTask(document);
  }

  async function all(filter: Filter<TaskDocument>): Promise<Task[]> {
    return (await tasks.find(filter).toArray()).map(toTask);
  }

  return {
    async find(id: string): Promise<Task | undefined> {
      const found = await findById(id);
      return found === undefined ? undefined : toTask(found);
    },

    findMany: (ids: readonly string[]): Promise<Task[]> => all({ _id: { $in: [...ids] } }),

    /**
     * Finds the task even if the job has been replaced. If several channels use the same id, the newest task is
     * returned.
     */
    async findByUpstreamId(upstreamId: string): Promise<Task | undefined> {
      const found = await all({ 'attempts.operation.id': upstreamId });
      return found.toSorted((a, b) => b.createdAt - a.createdAt)[0];
    },

    /**
     * Returns the task that has or had this job. The task is confirmed with a write, because an operator may be refused
     * the job as a result.
     */
    async ownerOf(job: string): Promise<string | undefined> {
      const seen = await tasks.findOne({ jobs: job }, { projection: { _id: 1 } });
      if (seen === null) return undefined;
      return (await tasks.findOneAndUpdate({ _id: seen._id, jobs: job }, ...readByWrite))?._id;
    },

    /** Yields the most urgent tasks of each status first. Keeps only one batch in memory at a time. */
    async *unfinished(): AsyncIterable<Task> {
      for (const status of unfinishedStatuses) {
        yield* each(tasks.find({ status }).sort({ deadlineAt: 1 }));
      }
    },

    /**
     * Returns tasks that finished before `time` (Unix milliseconds) and whose callers were notified, oldest first
     * within each status.
     */
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

    async idsOf(account: string, limit: number): Promise<string[]> {
      const found = tasks
        .find(listQuery({ account }, undefined, true), { projection: { _id: 1 } })
        .sort({ sort: 1 })
        .limit(limit);
      return (await found.toArray()).map(({ _id }) => _id);
    },

    async countOf(account: string): Promise<{ readonly all: number; readonly unfinished: number }> {
      const [all, unfinished] = await Promise.all([
        tasks.countDocuments({ account }),
        tasks.countDocuments({ account, kind: { $in: taskKinds }, status: { $in: unfinishedStatuses } }),
      ]);
      return { all, unfinished };
    },

    asking: (reason: AttentionReason) => each(tasks.find({ attention: reason }).sort({ sort: -1 })),
    owing: () => each(tasks.find({ owes: { $gt: '' } }).sort({ owes: 1 })),
  };
}
