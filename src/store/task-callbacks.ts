import type { Collection } from 'mongodb';
import type { CallbackAttempt, CallbackState } from '../task/callback-record.ts';
import { ownCallbackRound } from '../base/ids.ts';
import { readByWrite } from './mongo.ts';
import type { TaskDocument } from './task-document.ts';

export interface CallbackRound {
  readonly task: string;
  readonly round: string;
  readonly target: string;
}

const attemptsMax = 50;
const replacedMax = 50;

export function taskCallbacks(tasks: Collection<TaskDocument>, now: () => number) {
  return { ...callbackRounds(tasks, now), ...callbackAnswers(tasks), ...callbackDebts(tasks) };
}

function callbackRounds(tasks: Collection<TaskDocument>, now: () => number) {
  async function count({ task, round, target }: CallbackRound): Promise<number | undefined> {
    const counted = await tasks.findOneAndUpdate(
      { _id: task, 'callback.round': round, 'callback.state': { $ne: 'delivered' } },
      { $inc: { 'callback.begun': 1 }, $set: { 'callback.target': target } },
      { returnDocument: 'after' },
    );
    return counted?.callback?.begun;
  }

  async function open({ task, round, target }: CallbackRound): Promise<number | undefined> {
    const callback = { state: 'pending', target, attempts: [], round, begun: 1 } as const;
    const opened = await tasks.updateOne({ _id: task, callback: { $exists: false } }, { $set: { callback } });
    return opened.matchedCount === 1 ? 1 : undefined;
  }

  return {
    /**
     * Counts an attempt before its request is sent, so that it is counted even if the process dies. Returns its number
     * within the round, starting at 1. Returns undefined if this round has already delivered the callback or a newer
     * round has replaced it. Only the newest round may continue, because two rounds that took turns would never end. A
     * round that an operator requested delivers the callback again.
     */
    async beginCallback(next: CallbackRound): Promise<number | undefined> {
      const { task, round } = next;
      // Before the first attempt, there is usually no callback record, so try to create one first.
      const begun = round === ownCallbackRound ? await open(next) : undefined;
      if (begun !== undefined) return begun;
      for (;;) {
        const counted = (await count(next)) ?? (await open(next));
        if (counted !== undefined) return counted;
        const found = await tasks.findOneAndUpdate({ _id: task }, ...readByWrite);
        if (found === null) return undefined;
        const { callback } = found;
        if (callback === undefined || callback.round === round) {
          if (callback?.state === 'delivered') return undefined;
          // Another run of the same round has changed the record, so try again.
          continue;
        }
        if (round === ownCallbackRound || callback.replaced?.includes(round) === true) return undefined;
        await tasks.updateOne(
          { _id: task, 'callback.round': callback.round },
          {
            $set: {
              owes: task,
              'callback.round': round,
              'callback.begun': 0,
              'callback.state': 'pending',
              'callback.since': now(),
              'callback.isFailing': false,
            },
            $unset: { gaveUp: '' },
            $push: { 'callback.replaced': { $each: [callback.round], $slice: -replacedMax } },
          },
        );
      }
    },
  };
}

function callbackAnswers(tasks: Collection<TaskDocument>) {
  return {
    /**
     * If called repeatedly with the same `at`, records the attempt only once. If a newer round has replaced this one, a
     * late response is listed but does not change the callback's state.
     */
    async recordCallback(
      { task, round, target }: CallbackRound,
      attempt: CallbackAttempt,
      state: CallbackState,
    ): Promise<void> {
      const isNew = { 'callback.attempts.at': { $ne: attempt.at } };
      const $push = pushed(attempt);
      const $set = {
        'callback.state': state,
        'callback.target': target,
        'callback.isFailing': state === 'pending',
      };
      const inForce = await tasks.updateOne(
        { _id: task, 'callback.round': round, ...isNew },
        {
          $push,
          $set: state === 'gave_up' ? { ...$set, gaveUp: task } : $set,
          ...(state === 'pending'
            ? {}
            : { $unset: state === 'gave_up' ? { owes: '' } : { owes: '', gaveUp: '' } }),
        },
      );
      if (inForce.matchedCount === 1) return;
      await tasks.updateOne(
        { _id: task, 'callback.round': { $exists: true, $ne: round }, ...isNew },
        { $push },
      );
    },

    async noteUnsent(task: string, round: string, attempt: CallbackAttempt): Promise<boolean> {
      const failing = { attempts: [attempt], isFailing: true };
      const callback = { state: 'pending', target: '', round, begun: 0, ...failing } as const;
      const first = await tasks.updateOne(
        { _id: task, owes: task, callback: { $exists: false } },
        { $set: { callback } },
      );
      if (first.matchedCount === 1) return true;
      const noted = await tasks.updateOne(
        {
          _id: task,
          'callback.round': round,
          'callback.state': 'pending',
          'callback.isFailing': { $ne: true },
        },
        {
          $push: pushed(attempt),
          $set: { 'callback.isFailing': true },
        },
      );
      return noted.matchedCount === 1;
    },

    async abandonCallback(task: string, round: string): Promise<void> {
      await tasks.updateOne(
        { _id: task, 'callback.round': round, 'callback.state': 'pending' },
        { $set: { 'callback.state': 'gave_up', gaveUp: task }, $unset: { owes: '' } },
      );
    },
  };
}

function pushed(attempt: CallbackAttempt) {
  return { 'callback.attempts': { $each: [attempt], $slice: -attemptsMax } };
}

function callbackDebts(tasks: Collection<TaskDocument>) {
  return {
    async oweNothing(task: string): Promise<void> {
      await tasks.updateOne({ _id: task, owes: task }, { $unset: { owes: '' } });
    },

    async abandonedCallbacks(limit: number, after: string = ''): Promise<string[]> {
      const found = tasks.find({ gaveUp: { $gt: after } }, { projection: { _id: 1 } }).sort({ gaveUp: 1 });
      return (await found.limit(limit).toArray()).map(({ _id }) => _id);
    },

    async failingCallbacks(limit: number, after: string = ''): Promise<string[]> {
      const failing = { owes: { $gt: after }, 'callback.isFailing': true };
      const found = tasks.find(failing, { projection: { _id: 1 } }).sort({ owes: 1 });
      return (await found.limit(limit).toArray()).map(({ _id }) => _id);
    },
  };
}
