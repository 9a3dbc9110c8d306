import { z } from 'zod';
import { attentionReasons } from '../../task/attention.ts';
import { formatDecimal } from '../../money/decimal.ts';
import { divideHalfUp, formatMicros, type Micros } from '../../money/money.ts';
import { accessOfAct, operatorActions } from '../../operating/acts.ts';
import { mapMoney } from '../../operating/money-preview.ts';
import { situation, standingOf } from '../../operating/situation.ts';
import type { Surroundings } from '../../task/service.ts';
import type { Task } from '../../task/record.ts';
import { stateNames } from '../../task/state.ts';
import { waitCauses } from '../../task/wait.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

const previewAmount = z
  .string()
  .nullable()
  .meta({ description: 'Null if the amount depends on the facts that the operator enters with the action.' });

export const situationSchema = z
  .object({
    name: z.enum(stateNames),
    what: z.string().meta({ description: 'One sentence about what the task is waiting for.' }),
    waits_for: z.enum(waitCauses).nullable().meta({
      description:
        'A machine-readable code for the situation, or the reason the task needs an operator. Null once the task has ended.',
    }),
    since: unixSeconds('When this wait began.'),
    attention: z.enum(attentionReasons).nullable(),
    advice: z.string().nullable().meta({
      description: 'The recommendation for an operator. Null if there is nothing to do.',
    }),
    until: unixSeconds().nullable().meta({
      description: 'Unix seconds. When the next attempt begins, or the deadline. Null if the task has ended.',
    }),
    where: z
      .object({ channel: z.string(), credential: z.string() })
      .nullable()
      .meta({ description: 'The channel that has, or may have, the job.' }),
    upstream_id: z.string().nullable(),
    marker: z
      .string()
      .nullable()
      .meta({ description: 'The text to search for at the upstream if a submission was lost.' }),
    charge: z.string().nullable().meta({ description: 'The charge that awaits a decision.' }),
    charge_per_hold: z.string().nullable().meta({
      description:
        'The pending charge divided by the hold, to two decimal places. An operator must decide if it exceeds the model’s `hold.review_above` (default: 3). Null if no charge awaits a decision or nothing is held.',
    }),
    actions: z
      .array(
        z.object({
          name: z.enum(operatorActions),
          access: z.enum(['tasks', 'money']).meta({ description: 'The role required for the action.' }),
          command: z.string(),
          charged: previewAmount,
          released: previewAmount,
          refunded: z.string(),
          unpaid_jobs: z.int().meta({
            description: 'The number of jobs that the upstream may bill without a charge to cover them.',
          }),
        }),
      )
      .meta({
        description:
          'The actions that are possible now, the recommended ones first, each with its command line and its effect on the money.',
      }),
  })
  .meta({ id: 'TaskSituation', description: 'The task’s situation, as also shown in the Temporal UI.' });

export function presentSituation(task: Task, around: Surroundings): z.output<typeof situationSchema> {
  const found = situation(standingOf(task, around));
  const { name, what, waitsFor, since, attention, advice, until, where, upstreamId, marker, charge } = found;
  return {
    name,
    what,
    waits_for: waitsFor ?? null,
    since: toSeconds(since),
    attention: attention ?? null,
    advice: advice ?? null,
    until: secondsOrNull(until),
    where: where ?? null,
    upstream_id: upstreamId ?? null,
    marker: marker ?? null,
    charge: charge === undefined ? null : formatMicros(charge),
    charge_per_hold: charge === undefined ? null : timesOf(charge, task.hold),
    actions: found.actions.map(({ money, name: action, ...rest }) => {
      const { unpaidJobs, ...amounts } = mapMoney(money, formatMicros);
      return {
        name: action,
        access: accessOfAct(action),
        ...rest,
        ...amounts,
        unpaid_jobs: unpaidJobs,
      };
    }),
  };
}

function timesOf(charge: Micros, hold: Micros): string | null {
  if (hold <= 0n) return null;
  return formatDecimal({ digits: divideHalfUp(charge * 100n, hold), places: 2 });
}
