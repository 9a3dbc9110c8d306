import type { Collection } from 'mongodb';
import { defined } from '../domain/defined.ts';
import type { Task } from '../domain/task-record.ts';
import { isDuplicateKey } from './mongo.ts';
import { sortKey, toTask } from './task-document.ts';
import type { NewTask, TaskDocument } from './task-document.ts';

/** From the first projection to the workflow's claim. */
export function taskCreation(tasks: Collection<TaskDocument>) {
  return {
    /** Inserts the first projection. False: one exists already and is unchanged. */
    async insert(task: NewTask, version: bigint): Promise<boolean> {
      const { id, createdAt, deadlineAt, unstarted, ...facts } = task;
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
        ...defined({ unstarted }),
      };
      try {
        await tasks.insertOne(document);
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },

    /** False: the workflow or another try of the creation has the task by now. Repeatable. */
    async markAbandoned(id: string, unstarted: string): Promise<boolean> {
      const given = await tasks.updateOne({ _id: id, unstarted }, { $set: { given_up: true } });
      return given.matchedCount === 1;
    },

    async removeAbandoned(id: string): Promise<void> {
      await tasks.deleteOne({ _id: id, given_up: true });
    },

    /** Continues the creation of a task that an earlier try left behind. False: it has started, or was abandoned. */
    async takeOver(id: string, unstarted: string): Promise<boolean> {
      const taken = await tasks.updateOne(
        { _id: id, unstarted: { $exists: true }, given_up: { $exists: false } },
        { $set: { unstarted } },
      );
      return taken.matchedCount === 1;
    },

    /**
     * The workflow's own: from now on only the workflow can end the task. Resolves with the task as it was
     * before; undefined: it was abandoned, or has no projection.
     */
    async claim(id: string, hold: bigint): Promise<Task | undefined> {
      const before = await tasks.findOneAndUpdate(
        { _id: id, given_up: { $exists: false } },
        { $set: { hold }, $unset: { unstarted: '' } },
        { returnDocument: 'before' },
      );
      return before === null ? undefined : toTask(before);
    },
  };
}
