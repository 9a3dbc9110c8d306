import { defineUpdate } from '@temporalio/workflow';
import type { Admission, OperatorAction } from '../src/domain/task-input.ts';

/** What the API sends to a task's workflow. */

export const admitUpdate = defineUpdate<Admission>('admit');

export type CancelAnswer =
  | { readonly cancelled: true }
  | { readonly cancelled: false; readonly message: string };
export const cancelUpdate = defineUpdate<CancelAnswer>('cancel');

export type ActionAnswer = { readonly done: true } | { readonly done: false; readonly message: string };
export const operateUpdate = defineUpdate<ActionAnswer, [OperatorAction]>('operate');
