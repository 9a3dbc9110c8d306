import { z } from 'zod';
import { waitCauses, waitWords, type PastWait, type Wait } from '../../task/wait.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const waitSchema = z
  .object({
    cause: z.enum(waitCauses),
    text: z.string().meta({ description: 'The text shown to the caller, without times.' }),
    channel: z.string().nullable(),
    credential: z.string().nullable(),
    code: z.string().nullable().meta({ description: 'The upstream’s or the circuit’s code.' }),
    ahead: z.int().nullable().meta({ description: 'The number of tasks ahead at the last check.' }),
    since: unixSeconds(),
    ended_at: unixSeconds('Null if the wait has not ended.').nullable(),
    until: unixSeconds('The earliest time of the next attempt.').nullable(),
    times: z
      .int()
      .meta({ description: 'The number of identical consecutive waits that this entry represents.' }),
  })
  .meta({ id: 'TaskWait' });

export function presentWait(wait: Wait | PastWait): z.output<typeof waitSchema> {
  const { cause, channel, credential, code, ahead, since } = wait;
  return {
    cause,
    text: waitWords(wait),
    channel: channel ?? null,
    credential: credential ?? null,
    code: code ?? null,
    ahead: ahead ?? null,
    since: toSeconds(since),
    ended_at: 'ended' in wait ? toSeconds(wait.ended) : null,
    until: 'until' in wait ? secondsOrNull(wait.until) : null,
    times: ('times' in wait ? wait.times : undefined) ?? 1,
  };
}
