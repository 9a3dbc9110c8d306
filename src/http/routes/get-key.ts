import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { keyScopes } from '../../base/key-scope.ts';
import { capPercents, type SpentBy } from '../../money/cap-alerts.ts';
import { capsOf, capStates, type Cap, type SpentUse } from '../../money/caps.ts';
import { formatMicros } from '../../money/money.ts';
import { projectionDaysMin, projectMonth } from '../../money/projection.ts';
import { presentSpent, spentSchema } from '../presenters/cap.ts';
import { keyRuleFields } from '../presenters/key.ts';
import { toSeconds, unixSeconds } from '../presenters/unix-seconds.ts';
import { jsonReply, keyRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'capEvents' | 'catalogue' | 'keys' | 'ledger' | 'now'>;

const projectionSchema = z
  .object({
    projected: z
      .string()
      .nullable()
      .meta({
        description: `The projected total for the month. Null until ${projectionDaysMin} complete days are known.`,
      }),
    complete_days: z.int().meta({ description: 'The number of days on which the projection is based.' }),
    ends_at: unixSeconds('The start of the next month.'),
  })
  .meta({
    description:
      'The projection assumes that each remaining day costs as much as the average complete day of this month since the key was created. Today counts as at least its cost so far.',
  });

const ownKeySchema = z
  .object({
    object: z.literal('key'),
    id: z.string(),
    account: z.string(),
    currency: z.string(),
    scopes: z.array(z.enum(keyScopes)),
    duration_max: z.number().nullable().meta({
      description: 'The longest video, in seconds. Null means no limit.',
    }),
    resolution_max: z.string().nullable().meta({ description: 'Null means no limit.' }),
    ...keyRuleFields,
    requests_per_minute: z.int().nullable().meta({ description: 'Null means no limit.' }),
    concurrent_tasks: z.int().nullable().meta({ description: 'Null means no limit.' }),
    spent: spentSchema,
    projection: projectionSchema,
    models: z
      .array(z.object({ model: z.string(), spent: spentSchema }))
      .meta({ description: 'Models for which the key has a cap.' }),
  })
  .meta({ id: 'OwnKey' });

export function getKey(deps: Deps): Route {
  const { ledger, catalogue } = deps;
  return keyRoute({
    operationId: 'getKey',
    scope: 'any',
    summary: "Get the key's limits and usage",
    description:
      'Amounts are decimal strings with six places. If the key replaced another one, its amounts include what that key spent.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/key'],
    input: z.object({}),
    success: {
      description: 'The key that sent the request.',
      schema: ownKeySchema,
    },
    async handle({ caller }) {
      const { account, key, caps } = caller;
      const use = (await ledger.uses(account, { key })).get('key');
      const models = [];
      // Read one at a time, so that a key with many models does not occupy many MongoDB connections.
      for (const [model, limits] of caps?.models ?? []) {
        const uses = await ledger.uses(account, { key, model });
        const spent = { account, by: { key, model }, use: uses.get('model'), caps: capsOf('model', limits) };
        models.push({ model, spent: await presentSpending(spent, deps) });
      }
      const spent = { account, by: { key }, use, caps: capsOf('key', caps?.all) };
      return jsonReply({
        object: 'key',
        id: key,
        account,
        currency: catalogue.current().currency,
        scopes: [...caller.scopes],
        duration_max: caller.secondsMax ?? null,
        resolution_max: caller.resolutionMax ?? null,
        strict: caller.strict ?? false,
        end_user_required: caller.endUserRequired ?? false,
        requests_per_minute: caller.requestsPerMinute ?? null,
        concurrent_tasks: caller.concurrentTasks ?? null,
        spent: await presentSpending(spent, deps),
        projection: await presentProjection(key, use, deps),
        models,
      });
    },
  });
}

interface ScopeSpending {
  readonly account: string;
  readonly by: SpentBy;
  readonly use: SpentUse | undefined;
  readonly caps: readonly Cap[];
}

async function presentSpending(
  { account, by, use, caps }: ScopeSpending,
  { capEvents }: Deps,
): Promise<z.output<typeof spentSchema>> {
  const states = use === undefined ? [] : capStates(caps, new Map(caps.map(({ scope }) => [scope, use])));
  const asked = states.flatMap((cap) => capPercents.map((percent) => ({ cap, by, percent })));
  return presentSpent({ use, caps: states, reported: await capEvents.reported(account, asked) });
}

async function presentProjection(
  key: string,
  use: SpentUse | undefined,
  { keys, now }: Deps,
): Promise<z.output<typeof projectionSchema>> {
  const at = now();
  const [used, today] = [use?.month.used ?? 0n, use?.day.used ?? 0n];
  const since = (await keys.find(key))?.createdAt ?? 0;
  const { projected, days } = projectMonth({ used, today, now: at, since });
  const date = new Date(at);
  return {
    projected: projected === undefined ? null : formatMicros(projected),
    complete_days: days,
    ends_at: toSeconds(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)),
  };
}
