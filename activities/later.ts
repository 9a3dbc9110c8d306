import { ApplicationFailure } from '@temporalio/activity';
import { defined } from '../src/base/defined.ts';

/**
 * The failure that is a wait: nobody's fault, and the activity runs again after it. `afterMs` absent: as its retry rule
 * says. A wait is a timer on the server and occupies nothing here.
 */
export function later(type: string, message: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: 'BENIGN',
    ...defined({ nextRetryDelay: afterMs }),
  });
}
