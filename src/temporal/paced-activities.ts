import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { workflowTypes } from '../base/queues.ts';
import type { Pace } from '../process/pace.ts';

/**
 * Keeps the process busy for some time after each activity. The reconciler is an exception, because a run every few
 * minutes is not a sign of more work to come.
 */
export function pacedActivities(pace: Pace): ActivityInterceptorsFactory {
  return ({ info: { workflowType } }) => {
    const use = workflowType === workflowTypes.reconciler ? pace.useOnce : pace.use;
    return { inbound: { execute: (input, next) => use(() => next(input)) } };
  };
}
