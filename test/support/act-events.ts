import type { OperatorActionName } from '../../src/task/acts.ts';
import type { TaskEvent } from '../../src/task/state.ts';
import { events } from './task-model.ts';

/** The events that an operator's act may be: the state decides which. None: it does not touch the state. */
export const actEvents: Readonly<Record<OperatorActionName, readonly TaskEvent[]>> = {
  retry_now: [{ kind: 'resumed' }, { kind: 'acted' }],
  adopt: [{ kind: 'adopted', operation: { id: 'job-named' } }],
  resubmit: [{ kind: 'resubmitted' }],
  fail: [events.wanted('fail')],
  cancel: [events.wanted('cancel')],
  complete: [events.completed],
  extend: [{ kind: 'extended', seconds: 3600 }],
  accept_charge: [{ kind: 'approved' }],
  undo: [{ kind: 'undone' }],
  redeliver: [],
  refund: [],
};
