import { z } from 'zod';
import type { Change } from '../../store/changes.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const changesSchema = z
  .array(z.object({ at: unixSeconds(), by: z.string(), action: z.string(), reason: z.string() }))
  .meta({ description: 'What operators changed, oldest first; the last 50.' });

export function presentChanges(changes: readonly Change[] = []): z.output<typeof changesSchema> {
  return changes.map(({ at, by, action, reason }) => ({ at: toSeconds(at), by, action, reason }));
}
