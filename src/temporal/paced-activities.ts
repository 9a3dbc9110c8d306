import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { workflowTypes } from '../base/queues.ts';
import type { Pace } from '../process/pace.ts';

/**
 * Keeps the process busy for some time after each activity, because more work is likely to follow. The reconciler is an
 * exception: it runs every few minutes in any case.
 */
export function pacedActivities(pace: Pace): ActivityInterceptorsFactory {
  return ({ info: { workflowType } }) => {
    const use = workflowType === workflowTypes.reconciler ? pace.useOnce : pace.use;
    return { inbound: { execute: (input, next) => use(() => next(input)) } };
  };
}
