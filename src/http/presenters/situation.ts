import { z } from 'zod';
import { attentionReasons } from '../../domain/attention.ts';
import { formatMicros } from '../../domain/money.ts';
import { operatorActions, taskSituationNames } from '../../domain/operator-actions.ts';
import { situation, standingOf } from '../../domain/situation.ts';
import type { Task } from '../../domain/task-record.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const situationSchema = z
  .object({
    name: z.enum(taskSituationNames),
    what: z.string().meta({ description: 'What the task waits for, in one sentence.' }),
    attention: z.enum(attentionReasons).nullable(),
    advice: z.string().nullable().meta({ description: 'What a person should do; null if nobody is asked.' }),
    until: unixSeconds()
      .nullable()
      .meta({ description: 'When its next try begins, or it is ended; null if it has ended.' }),
    where: z
      .object({ channel: z.string(), credential: z.string() })
      .nullable()
      .meta({ description: 'Where its job is, or may be.' }),
    upstream_id: z.string().nullable(),
    marker: z
      .string()
      .nullable()
      .meta({ description: 'What to look for at the upstream of a lost submission.' }),
    charge: z.string().nullable().meta({ description: 'The charge that waits for a decision.' }),
    actions: z
      .array(z.object({ name: z.enum(operatorActions), command: z.string() }))
      .meta({ description: 'What an operator can do now, each with its line for a terminal.' }),
  })
  .meta({ id: 'TaskSituation', description: 'Where the task stands: what the Temporal UI shows of it.' });

export function presentSituation(task: Task): z.output<typeof situationSchema> {
  const { name, what, attention, advice, until, where, upstreamId, marker, charge, actions } = situation(
    standingOf(task),
  );
  return {
    name,
    what,
    attention: attention ?? null,
    advice: advice ?? null,
    until: until === undefined ? null : toSeconds(until),
    where: where ?? null,
    upstream_id: upstreamId ?? null,
    marker: marker ?? null,
    charge: charge === undefined ? null : formatMicros(BigInt(charge)),
    actions: actions.map((action) => ({ ...action })),
  };
}
