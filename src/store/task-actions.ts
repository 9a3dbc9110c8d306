import type { Collection } from 'mongodb';
import { attentionReasons } from '../domain/attention.ts';
import { pollConcerns } from '../domain/poll-concern.ts';
import type { PollConcern } from '../domain/poll-concern.ts';
import type { TaskActionRecord } from '../domain/task-record.ts';
import { statusesBefore } from '../domain/task.ts';
import type { TaskDocument } from './task-document.ts';

const actionsMax = 100;
const otherReasons = attentionReasons.filter((reason) => !pollConcerns.some((concern) => concern === reason));

/** What operators change about a task. Each write is guarded by what must not have happened before. */
export function taskActions(tasks: Collection<TaskDocument>, now: () => number) {
  const unfinished = { $in: statusesBefore('succeeded') };
  return {
    /** A record with an id is written once. */
    async recordAction(id: string, record: TaskActionRecord): Promise<void> {
      const isNew = record.id === undefined ? {} : { 'actions.id': { $ne: record.id } };
      await tasks.updateOne(
        { _id: id, ...isNew },
        { $push: { actions: { $each: [record], $slice: -actionsMax } } },
      );
    },

    async moveDeadline(id: string, deadlineAt: number): Promise<void> {
      await tasks.updateOne(
        { _id: id, status: unfinished },
        { $set: { deadline_at: deadlineAt, updated_at: now() } },
      );
    },

    /** A request for a person that is about polling; it never replaces one about something else. */
    async setConcern(id: string, concern: PollConcern | undefined): Promise<void> {
      await tasks.updateOne(
        { _id: id, status: unfinished, attention: { $nin: otherReasons } },
        concern === undefined ? { $unset: { attention: '' } } : { $set: { attention: concern } },
      );
    },

    /**
     * The upstream job is not the task's: what a poll of it still reports is not recorded any more. False: the job has
     * ended, or the task has. Repeatable.
     */
    async disownJob(id: string, upstreamId: string): Promise<boolean> {
      const disowned = await tasks.updateOne(
        { _id: id, status: unfinished, outcome: { $exists: false } },
        {
          $addToSet: { disowned: upstreamId },
          $set: { updated_at: now(), trace_id: '' },
          $unset: { upstream_id: '', progress: '', queue_position: '' },
        },
      );
      return disowned.matchedCount === 1;
    },

    /** The job that an operator named is the task's, whatever the status says: another may have been taken back. */
    async ownJob(id: string, job: NamedJob): Promise<void> {
      const { channel, credential, upstreamId, version } = job;
      await tasks.updateOne(
        { _id: id, status: unfinished },
        {
          $pull: { disowned: upstreamId },
          $set: { channel, credential, upstream_id: upstreamId, trace_id: upstreamId, updated_at: now() },
          $max: { version },
          $unset: { attention: '', waits_for: '' },
        },
      );
      await tasks.updateOne({ _id: id, status: 'pending' }, { $set: { status: 'submitted' } });
    },
  };
}

export interface NamedJob {
  readonly channel: string;
  readonly credential: string;
  readonly upstreamId: string;
  readonly version: bigint;
}
