import { ApplicationFailure } from '@temporalio/activity';
import { defined } from '../src/base/defined.ts';

/**
 * Returns a failure that only makes the activity wait. The activity runs again after `afterMs`, or according to its
 * retry policy. The wait is a timer on the server and uses no resources here.
 */
export function later(type: string, message: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: 'BENIGN',
    ...defined({ nextRetryDelay: afterMs }),
  });
}
