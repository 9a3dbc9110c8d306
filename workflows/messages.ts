import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Concern } from '../src/task/attention.ts';
import type { ActionResult, RunningActionName } from '../src/operating/acts.ts';

/** Defines an action's update. The handler validates the input, which should be an `ActionInput`. */
export function actionUpdate(name: RunningActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** A caller's cancellation. It contains neither a name nor a reason. */
export const cancelUpdate = defineUpdate<ActionResult>('cancel');

/** The failure type of a refused action. Its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/**
 * Polls and the reconciler send this signal when an operator should look at a task that is still running. Null withdraws
 * the concern.
 */
export const concernSignal = defineSignal<[concern: Concern | null]>('concern');

/** The reconciler sends this signal when no worker serves these channels. */
export const unservedSignal = defineSignal<[channels: readonly string[]]>('unserved');
