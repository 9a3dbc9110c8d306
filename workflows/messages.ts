import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Concern } from '../src/task/attention.ts';
import type { ActionResult, RunningActionName } from '../src/operating/acts.ts';

/** The input should be an `ActionInput`, but only the handler checks that. */
export function actionUpdate(name: RunningActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** A caller's cancellation has neither a name nor a reason. */
export const cancelUpdate = defineUpdate<ActionResult>('cancel');

/** The failure type of a refused action. Its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/** Sent when an operator should look at a task that is still running. Null withdraws the concern. */
export const concernSignal = defineSignal<[concern: Concern | null]>('concern');

/** Sent by the reconciler if there is no worker for these channels. */
export const unservedSignal = defineSignal<[channels: readonly string[]]>('unserved');
