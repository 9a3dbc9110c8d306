import type { ActionEvent, OperatorActionName } from '../../src/operating/acts.ts';
import type { EventOf } from '../../src/task/state.ts';
import { events } from './task-model.ts';

type ActEvents = { readonly [Name in OperatorActionName]: readonly EventOf<ActionEvent<Name>>[] };

export const actEvents: ActEvents = {
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
