import { z } from 'zod';
import type { AdminClient, Row } from '../admin-client.ts';
import { ownAttemptSchema } from './rows.ts';
import type { OwnAttempt } from './rows.ts';

/** Unix seconds: inclusive, and exclusive. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** What the gateway knows of what an upstream bills. */
export interface OwnAttempts {
  /** Jobs of tasks that were created in the period. */
  jobs(channel: string, created: Period): AsyncIterable<OwnAttempt>;
  /** Attempts of such tasks of which it is not known whether there is a job. */
  unclaimed(channel: string, created: Period): AsyncIterable<OwnAttempt>;
  /** Whose jobs these are, whenever. */
  find(channel: string, jobs: readonly string[]): Promise<readonly OwnAttempt[]>;
  /** Sums of what ended in the period, two days at most. */
  costs(channel: string, ended: Period): Promise<OwnCosts>;
}

const costsSchema = z.object({
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

export type OwnCosts = z.output<typeof costsSchema>;

const path = '/billed-attempts';

/** Over the operators' API, page by page. */
export function createOwnAttempts(client: Pick<AdminClient, 'all' | 'call'>): OwnAttempts {
  async function* all(query: Readonly<Record<string, string>>): AsyncGenerator<OwnAttempt> {
    for await (const row of client.all(path, query)) yield ownAttemptSchema.parse(row);
  }

  const span = ({ from, to }: Period) => ({ from: `${Math.max(0, from)}`, before: `${to}` });
  return {
    jobs: (channel, created) => all({ channel, ...span(created) }),
    unclaimed: (channel, created) => all({ channel, ...span(created), unclaimed: 'true' }),
    async find(channel, jobs) {
      const { data }: Row = await client.call('POST', `${path}/find`, { channel, jobs });
      return ownAttemptSchema.array().parse(data);
    },
    async costs(channel, ended) {
      const query = new URLSearchParams({ channel, ...span(ended) });
      return costsSchema.parse(await client.call('GET', `/upstream-costs?${query.toString()}`));
    },
  };
}
