import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Concern } from '../src/task/attention.ts';
import type { ActionResult, RunningActionName } from '../src/operating/acts.ts';

/** The handler validates the input, which should be an `ActionInput`. */
export function actionUpdate(name: RunningActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** A caller's cancellation has neither a name nor a reason. */
export const cancelUpdate = defineUpdate<ActionResult>('cancel');

/** The failure type of a refused action. Its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/** Sent when an operator should look at a task that is still running. Null withdraws the concern. */
export const concernSignal = defineSignal<[concern: Concern | null]>('concern');

/** Sent by the reconciler if no worker serves these channels. */
export const unservedSignal = defineSignal<[channels: readonly string[]]>('unserved');
