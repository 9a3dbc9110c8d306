import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Concern } from '../src/task/attention.ts';
import type { ActionResult, RunningActionName } from '../src/task/acts.ts';

/** What the API and operators send to a task's workflow. */

/** One update for each action: the input is an ActionInput. */
export function actionUpdate(name: RunningActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** From a caller, who says neither who nor why. */
export const cancelUpdate = defineUpdate<ActionResult>('cancel');

/** The type of the failure with which an action is refused; its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/** From the poll and the reconciler: a person should look, although the task continues; null: need not any more. */
export const concernSignal = defineSignal<[concern: Concern | null]>('concern');

/** From the reconciler: nobody serves these channels. */
export const unservedSignal = defineSignal<[channels: readonly string[]]>('unserved');
