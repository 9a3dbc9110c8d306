import { z } from 'zod';
import type { Change } from '../../store/changes.ts';
import { toSeconds, unixSeconds } from './unix-seconds.ts';

export const changesSchema = z
  .array(z.object({ at: unixSeconds(), by: z.string(), action: z.string(), reason: z.string() }))
  .meta({ description: 'The last 50 changes by operators, oldest first.' });

export function presentChanges(changes: readonly Change[] = []): z.output<typeof changesSchema> {
  return changes.map(({ at, by, action, reason }) => ({ at: toSeconds(at), by, action, reason }));
}
