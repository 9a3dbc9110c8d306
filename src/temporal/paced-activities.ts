import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Pace } from '../process/pace.ts';

/** Counts each activity as worker usage. */
export function pacedActivities(pace: Pace): ActivityInterceptorsFactory {
  return () => ({ inbound: { execute: (input, next) => pace.use(() => next(input)) } });
}
