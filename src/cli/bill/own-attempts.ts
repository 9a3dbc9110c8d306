import { ownCostsSchema, type OwnAttempts, type Period } from '../../bills/own-attempts.ts';
import { ownAttemptSchema, type OwnAttempt } from '../../bills/rows.ts';
import type { AdminClient, Row } from '../admin-client.ts';

const path = '/billed-attempts';

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
      return ownCostsSchema.parse(await client.call('GET', `/upstream-costs?${query.toString()}`));
    },
  };
}
