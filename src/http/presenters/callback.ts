import { z } from 'zod';
import { callbackStates, type CallbackRecord } from '../../task/callback-record.ts';
import type { Task } from '../../task/record.ts';
import { taskKindSchema } from './enums.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const deliverySchema = z.object({
  state: z.enum(callbackStates),
  target: z
    .string()
    .meta({ description: 'The URL’s scheme and host. Empty if no request could be sent yet.' }),
  attempts: z.array(
    z.object({
      at: unixSeconds(),
      duration_ms: z.int(),
      status: z.int().nullable().meta({ description: 'Null if there was no response.' }),
      error: z.string().nullable(),
    }),
  ),
});

export function presentCallback({
  state,
  target,
  attempts,
}: CallbackRecord): z.output<typeof deliverySchema> {
  return {
    state,
    target,
    attempts: attempts.map(({ at, durationMs, status, error }) => ({
      at: toSeconds(at),
      duration_ms: durationMs,
      status: status ?? null,
      error: error ?? null,
    })),
  };
}

export const callbackSchema = z
  .object({
    object: z.literal('callback'),
    task_id: z.string(),
    is_wanted: z.boolean().meta({ description: 'Whether the task was created with a callback URL.' }),
    delivery: deliverySchema.nullable().meta({ description: 'Null before the first attempt.' }),
  })
  .meta({ id: 'Callback' });

export function presentOwnCallback({ id, hasCallback, callback }: Task): z.output<typeof callbackSchema> {
  return {
    object: 'callback',
    task_id: id,
    is_wanted: hasCallback,
    delivery: callback === undefined ? null : presentCallback(callback),
  };
}

/** Includes the kind, which is needed to look up the task. */
export const loggedCallbackSchema = callbackSchema
  .extend({ kind: taskKindSchema })
  .meta({ id: 'LoggedCallback' });

export function presentLoggedCallback(task: Task): z.output<typeof loggedCallbackSchema> {
  return { ...presentOwnCallback(task), kind: task.kind };
}
