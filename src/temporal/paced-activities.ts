import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { workflowTypes } from '../base/queues.ts';
import type { Pace } from '../process/pace.ts';

/**
 * Counts each activity as use of the worker. The reconciler's runs count only once, because a run every few minutes is
 * not a sign of more to come.
 */
export function pacedActivities(pace: Pace): ActivityInterceptorsFactory {
  return ({ info: { workflowType } }) => {
    const use = workflowType === workflowTypes.reconciler ? pace.useOnce : pace.use;
    return { inbound: { execute: (input, next) => use(() => next(input)) } };
  };
}
