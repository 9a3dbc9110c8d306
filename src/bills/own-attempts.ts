import { z } from 'zod';
import type { OwnAttempt } from './rows.ts';

/** Unix seconds. `from` is inclusive, `to` exclusive. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** Our records of the jobs that an upstream bills. */
export interface OwnAttempts {
  /** Jobs of tasks created in the period. */
  jobs(channel: string, created: Period): AsyncIterable<OwnAttempt>;
  /** Those tasks' attempts for which the upstream may or may not have a job. */
  unclaimed(channel: string, created: Period): AsyncIterable<OwnAttempt>;
  /** Finds the attempts that these jobs belong to, regardless of the period. */
  find(channel: string, jobs: readonly string[]): Promise<readonly OwnAttempt[]>;
  /** Sums all costs of what ended in the period, which may span at most two days. */
  costs(channel: string, ended: Period): Promise<OwnCosts>;
}

/** The response of `GET /admin/v1/upstream-costs`. */
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
