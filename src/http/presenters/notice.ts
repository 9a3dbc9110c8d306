import { z } from 'zod';
import { noticeKinds, type Notice } from '../../base/notice.ts';
import { secondsOrNull, toSeconds, unixSeconds } from './unix-seconds.ts';

export const noticeSchema = z
  .object({
    object: z.literal('notice'),
    id: z.string(),
    kind: z.enum(noticeKinds),
    subject: z
      .string()
      .meta({ description: 'The notice’s subject: names from the configuration, or an account.' }),
    state: z.enum(['open', 'over']),
    count: z.int(),
    text: z.string(),
    since: unixSeconds(),
    ended_at: unixSeconds('Null while the condition lasts.').nullable(),
    notified: z
      .array(z.string())
      .meta({ description: 'The `notify` targets that have been notified of the current state.' }),
  })
  .meta({ id: 'Notice' });

export function presentNotice({
  notified,
  revision,
  since,
  endedAt,
  ...notice
}: Notice): z.output<typeof noticeSchema> {
  const { id, kind, subject, state, count, text } = notice;
  return {
    object: 'notice',
    id,
    kind,
    subject,
    state,
    count,
    text,
    since: toSeconds(since),
    ended_at: secondsOrNull(endedAt),
    notified: Object.keys(notified).filter((target) => notified[target] === revision),
  };
}
