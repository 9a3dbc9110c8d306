import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ConcernNews } from '../activities/deps.ts';
import type { ActionResult, WorkflowActionName } from '../src/domain/operator-actions.ts';

/** What the API and operators send to a task's workflow. */

export type CancelAnswer =
  | { readonly cancelled: true }
  | { readonly cancelled: false; readonly message: string };
/** From a caller. */
export const cancelUpdate = defineUpdate<CancelAnswer>('cancel');
/** The same from an operator, with who and why. */
export const operatorCancelUpdate = defineUpdate<CancelAnswer, [input: unknown]>('cancel');

/** One update for each action: the input is an ActionInput, or only the reason as a text. */
export function actionUpdate(name: WorkflowActionName) {
  return defineUpdate<ActionResult, [input: unknown]>(name);
}

/** The type of the failure with which an action is refused; its message is a sentence for the operator. */
export const refusedAction = 'ActionRefused';

/** Updates whose id begins so come from the API, which knows who acts; what others write into `by` is not checked. */
export const apiUpdatePrefix = 'api-';

/** From the poll: a person should look, although the task continues; or need not any more. */
export const concernSignal = defineSignal<[ConcernNews]>('concern');
