import { z } from 'zod';
import type { CallbackRecord } from '../../task/callback-record.ts';
import type { Task } from '../../task/record.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const deliverySchema = z.object({
  state: z.enum(['pending', 'delivered', 'gave_up']),
  target: z.string().meta({ description: 'Scheme and host of the address.' }),
  attempts: z.array(
    z.object({
      at: unixSeconds(),
      duration_ms: z.int(),
      status: z.int().nullable().meta({ description: 'Null: there was no response.' }),
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

/** What the owner of a task sees of its callback. */
export const callbackSchema = z
  .object({
    object: z.literal('callback'),
    task_id: z.string(),
    is_wanted: z.boolean().meta({ description: 'The task was created with a callback address.' }),
    delivery: deliverySchema.nullable().meta({ description: 'Null: nothing was sent.' }),
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
