import { z } from 'zod';
import type { Attempt } from '../../task/attempt.ts';
import { attemptStates } from '../../task/attempt.ts';
import { expectedBill } from '../../task/expected-bill.ts';
import type { BilledTask } from '../../task/expected-bill.ts';
import { taskStatusSchema } from './enums.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const billedAttemptSchema = z
  .object({
    task: z.string(),
    attempt: z.int(),
    account: z.string(),
    model: z.string(),
    output: z.string().meta({
      description:
        'What decides how long it renders: jobs that are alike in it and in their model cost alike.',
    }),
    status: taskStatusSchema,
    channel: z.string(),
    state: z.enum(attemptStates),
    upstream_model: z.string().nullable().meta({
      description: 'The vendor’s name of the model, by the running configuration; null if it has none.',
    }),
    job: z
      .string()
      .nullable()
      .meta({ description: 'The upstream’s id; null if there is no job, or none is known.' }),
    stray_job: z
      .string()
      .nullable()
      .meta({ description: 'A job that the upstream accepted after the task had continued without it.' }),
    started_at: unixSeconds(),
    ended_at: unixSeconds('When the job had ended; null if there is none, or it has not.').nullable(),
    expected: z
      .array(z.object({ by: z.enum(['upstream', 'rules']), amount: z.string(), unit: z.string() }))
      .meta({
        description:
          'What the upstream should bill for the job, exact: by its own number, by the channel’s rules. Empty if nothing says.',
      }),
  })
  .meta({ id: 'BilledAttempt' });

export interface Billing {
  readonly currency: string;
  readonly upstreamModel: (channel: string, model: string) => string | undefined;
}

export function presentBilledAttempt(
  task: BilledTask,
  attempt: Attempt,
  { currency, upstreamModel }: Billing,
): z.output<typeof billedAttemptSchema> {
  const { channel, operation } = attempt;
  const endedAt = attempt.state === 'failed' ? attempt.endedAt : task.completedAt;
  return {
    task: task.id,
    attempt: attempt.n,
    account: task.account,
    model: task.model,
    output: task.output,
    status: task.status,
    channel,
    state: attempt.state,
    upstream_model: upstreamModel(channel, task.model) ?? null,
    job: operation?.id ?? null,
    stray_job: attempt.stray?.id ?? null,
    started_at: toSeconds(attempt.startedAt),
    ended_at: operation === undefined ? null : secondsOrNull(endedAt),
    expected: operation === undefined ? [] : expectedBill(task, attempt, currency),
  };
}
