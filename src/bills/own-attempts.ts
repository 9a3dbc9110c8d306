import { z } from 'zod';
import type { OwnAttempt } from './rows.ts';

/** Unix seconds. `from` is inclusive, `to` exclusive. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export interface OwnAttempts {
  jobs(channel: string, created: Period): AsyncIterable<OwnAttempt>;
  unclaimed(channel: string, created: Period): AsyncIterable<OwnAttempt>;
  find(channel: string, jobs: readonly string[]): Promise<readonly OwnAttempt[]>;
  /** Returns the costs of tasks that finished in the period, which may span at most two days. */
  costs(channel: string, ended: Period): Promise<OwnCosts>;
}

export const ownCostsSchema = z.object({
  currency: z.string(),
  data: z.array(
    z.object({
      model: z.string(),
      upstream_model: z.string().nullable(),
      tasks: z.int(),
      cost: z.string(),
      cost_unknown: z.int(),
    }),
  ),
});

export type OwnCosts = z.output<typeof ownCostsSchema>;
