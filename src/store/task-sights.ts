import type { Collection } from 'mongodb';
import { defined } from '../base/defined.ts';
import { concerns, pollConcerns, type Concern } from '../task/attention.ts';
import type { Task } from '../task/record.ts';
import { unfinishedStatuses, type ResultItem } from '../task/task.ts';
import type { TaskDocument } from './task-document.ts';
import { unlinkedItem } from './task-links.ts';
import type { TaskForm } from './task-words.ts';

const asksNothing = {
  'state.at': { $nin: ['asking', 'broken', 'review'] as const },
  'state.abandoned': { $exists: false },
};

const ofPolls: ReadonlySet<Concern> = new Set(pollConcerns);
const beyondPolls = concerns.filter((concern) => !ofPolls.has(concern));

/** These writes only affect what is displayed. Each applies only while the task is in a suitable state. */
export function taskSights(
  tasks: Collection<TaskDocument>,
  now: () => number,
  { linkFields }: Pick<TaskForm, 'linkFields'>,
) {
  return {
    async recordProgress(id: string, seen: Pick<Task, 'progress' | 'queuePosition'>): Promise<void> {
      const { progress, queuePosition } = seen;
      await tasks.updateOne(
        { _id: id, 'state.at': { $in: ['waiting', 'stopping'] as const } },
        { $set: { updatedAt: now(), ...defined({ progress, queuePosition }) } },
      );
    },

    /**
     * Never overrides a concern that the state implies. A concern raised by a poll never overrides one that a poll
     * cannot clear. Returns false if nothing has changed.
     */
    async setConcern(id: string, concern: Concern): Promise<boolean> {
      const status = concern === 'not_delivered' ? 'succeeded' : { $in: unfinishedStatuses };
      const replaces = ofPolls.has(concern) ? { concern: { $nin: beyondPolls } } : {};
      const asked = await tasks.updateOne(
        { _id: id, status, ...replaces, ...asksNothing },
        { $set: { concern, attention: concern } },
      );
      return asked.modifiedCount === 1;
    },

    async withdrawConcern(id: string, concern: Concern): Promise<boolean> {
      const withdrawn = await tasks.updateOne(
        { _id: id, concern, ...asksNothing },
        { $unset: { concern: '', attention: '' } },
      );
      return withdrawn.matchedCount === 1;
    },

    async replaceItems(id: string, items: readonly ResultItem[]): Promise<void> {
      await tasks.updateOne(
        { _id: id, 'outcome.kind': 'succeeded' },
        { $set: { 'outcome.items': items.map(unlinkedItem), ...linkFields(id, items) } },
      );
    },
  };
}
