import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ConcernNews } from '../activities/deps.ts';
import type { ActionResult, WorkflowActionName } from '../src/domain/operator-actions.ts';

/** What the API and operators send to a task's workflow. */

export type CancelAnswer =
  | { readonly cancelled: true }
  | { readonly cancelled: false; readonly message: string };
/** `would`: of a dry run. */
export type OperatorCancelAnswer = CancelAnswer | Extract<ActionResult, { readonly would: unknown }>;
/** From a caller. */
export const cancelUpdate = defineUpdate<CancelAnswer>('cancel');
/** The same from an operator, with who and why. */
export const operatorCancelUpdate = defineUpdate<OperatorCancelAnswer, [input: unknown]>('cancel');

/** One update for each action: the input is an ActionInput. */
export function actionUpdate(name: WorkflowActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** The type of the failure with which an action is refused; its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/** From the poll and the reconciler: a person should look, although the task continues; or need not any more. */
export const concernSignal = defineSignal<[ConcernNews]>('concern');

/** From the reconciler: nobody serves these channels. */
export const unservedSignal = defineSignal<[channels: readonly string[]]>('unserved');
