import { z } from 'zod';

export const victimReport = z.object({
  callbackMs: z.number(),
  worst: z.object({ what: z.string(), status: z.number(), ms: z.number() }),
  refused: z.number(),
  answered: z.number(),
  medianMs: z.number(),
  healthMs: z.number(),
});
export type VictimReport = z.infer<typeof victimReport>;
