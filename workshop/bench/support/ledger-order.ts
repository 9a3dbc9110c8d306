import { z } from 'zod';

export const ledgerOrder = z.object({
  work: z.enum(['insertOne', 'append', 'fill']),
  uri: z.string(),
  concurrency: z.number(),
  seconds: z.number(),
  accounts: z.number(),
  entries: z.number(),
  secretsKey: z.string().optional(),
});
export type LedgerOrder = z.infer<typeof ledgerOrder>;

export const ledgerReport = z.object({
  appends: z.number(),
  seconds: z.number(),
  cpuMs: z.number(),
  collisions: z.number(),
});
export type LedgerReport = z.infer<typeof ledgerReport>;
