import type { Collection } from 'mongodb';
import { defined } from '../base/defined.ts';
import { concerns } from '../task/attention.ts';
import type { Concern } from '../task/attention.ts';
import type { Task } from '../task/record.ts';
import { pollConcerns } from '../task/poll-concern.ts';
import { unfinishedStatuses } from '../task/task.ts';
import type { ResultItem } from '../task/task.ts';
import type { TaskDocument } from './task-document.ts';
import { unlinkedItem } from './task-links.ts';
import type { TaskForm } from './task-words.ts';

/** Of a record whose state does not ask for a person. */
const asksNothing = {
  'state.at': { $nin: ['asking', 'broken', 'review'] as const },
  'state.abandoned': { $exists: false },
};

const ofPolls: ReadonlySet<Concern> = new Set(pollConcerns);
/** What no poll can know. */
const beyondPolls = concerns.filter((concern) => !ofPolls.has(concern));

/** What is seen on the way and shown, and decides nothing. Each write is guarded by what must not have happened before. */
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
     * A request for a person beside the state. It never replaces what the state itself asks for; and what a poll sees does
     * not replace what a poll cannot know. False: nothing has changed.
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

    /** It has passed. What was noted in its place meanwhile stays. */
    async withdrawConcern(id: string, concern: Concern): Promise<boolean> {
      const withdrawn = await tasks.updateOne(
        { _id: id, concern, ...asksNothing },
        { $unset: { concern: '', attention: '' } },
      );
      return withdrawn.matchedCount === 1;
    },

    /** The files stay what they are; where they lie changes. */
    async replaceItems(id: string, items: readonly ResultItem[]): Promise<void> {
      await tasks.updateOne(
        { _id: id, 'outcome.kind': 'succeeded' },
        { $set: { 'outcome.items': items.map(unlinkedItem), ...linkFields(id, items) } },
      );
    },
  };
}
