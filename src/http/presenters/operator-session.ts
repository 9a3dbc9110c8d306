import { z } from 'zod';
import type { OperatorSession } from '../../store/operator-sessions.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const operatorSessionSchema = z
  .object({
    object: z.literal('operator_session'),
    id: z.string(),
    operator: z.string(),
    current: z.boolean().meta({ description: 'Whether this request belongs to the session.' }),
    address: z.string().meta({ description: 'The IP address from which the session was opened.' }),
    browser: z.string().meta({ description: 'The `user-agent` that opened the session.' }),
    created_at: unixSeconds(),
    last_used_at: unixSeconds(
      'Accurate to the minute. Null if the session has not been used since it was opened.',
    ).nullable(),
    expires_at: unixSeconds(),
  })
  .meta({ id: 'OperatorSession' });

export function presentOperatorSession(
  { id, operator, address, agent, createdAt, lastUsedAt, expiresAt }: OperatorSession,
  current: string | undefined,
): z.output<typeof operatorSessionSchema> {
  return {
    object: 'operator_session',
    id,
    operator,
    current: id === current,
    address,
    browser: agent,
    created_at: toSeconds(createdAt),
    last_used_at: secondsOrNull(lastUsedAt),
    expires_at: toSeconds(expiresAt),
  };
}
