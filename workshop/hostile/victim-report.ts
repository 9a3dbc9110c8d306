import { z } from 'zod';

export const victimReport = z.object({
  /** The slowest of the answers that were no success, if there are any, and of all otherwise. Status 0: no answer. */
  worst: z.object({ what: z.string(), status: z.number(), ms: z.number() }),
  refused: z.number(),
  answered: z.number(),
  medianMs: z.number(),
  /** The longest wait for /healthz. */
  healthMs: z.number(),
});
export type VictimReport = z.infer<typeof victimReport>;
