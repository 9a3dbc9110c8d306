import { z } from 'zod';
import { attemptStates, mayHaveJob, type Attempt } from '../../task/attempt.ts';
import { isPossibleIn } from '../../operating/acts.ts';
import { expectedBill, type BilledTask } from '../../bills/expected-bill.ts';
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
        'The settings that determine the job’s cost. Jobs of the same model with the same value cost the same.',
    }),
    status: taskStatusSchema,
    channel: z.string(),
    state: z.enum(attemptStates),
    upstream_model: z.string().nullable().meta({
      description:
        'The vendor’s name for the model in the running configuration. Null if the configuration has none.',
    }),
    job: z
      .string()
      .nullable()
      .meta({ description: 'The upstream’s id. Null if there is no job, or if none is known.' }),
    stray_job: z.string().nullable().meta({
      description: 'A job that the upstream accepted after the task had moved on.',
    }),
    adoptable: z.boolean().meta({
      description:
        'Whether `adopt` can assign a job to this attempt, i.e. whether its task is waiting for that decision.',
    }),
    started_at: unixSeconds(),
    ended_at: unixSeconds('When the job ended. Null if there is no job or it is still running.').nullable(),
    expected: z
      .array(z.object({ by: z.enum(['upstream', 'rules']), amount: z.string(), unit: z.string() }))
      .meta({
        description:
          'The exact amount that the upstream should bill for the job: according to its own report and to the channel’s cost rules. Empty if neither is known.',
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
    adoptable:
      mayHaveJob(attempt) && attempt.n === task.attempts.at(-1)?.n && isPossibleIn('adopt', task.state.at),
    started_at: toSeconds(attempt.startedAt),
    ended_at: operation === undefined ? null : secondsOrNull(endedAt),
    expected: operation === undefined ? [] : expectedBill(task, attempt, currency),
  };
}
