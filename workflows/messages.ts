import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Concern } from '../src/task/attention.ts';
import type { ActionResult, RunningActionName } from '../src/task/acts.ts';

/** One update per action. Its input is an ActionInput. */
export function actionUpdate(name: RunningActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** Sent on behalf of a caller, without a name or a reason. */
export const cancelUpdate = defineUpdate<ActionResult>('cancel');

/** The failure type of a refused action. Its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/** From polls and the reconciler: an operator should look at a task that continues. Null withdraws the concern. */
export const concernSignal = defineSignal<[concern: Concern | null]>('concern');

/** From the reconciler: no worker serves these channels. */
export const unservedSignal = defineSignal<[channels: readonly string[]]>('unserved');
