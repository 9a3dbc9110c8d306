import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { GatewayConfig } from '../../config/gateway-file.ts';
import { formatMicros } from '../../money/money.ts';
import { channelPriceSchema } from '../../money/price-schema.ts';
import { tryPrices as carryOut, type OtherPrices, type Sum, type Tried } from '../../flight/try-prices.ts';
import type { RouteDeps } from '../deps.ts';
import { requireAccess } from '../identify.ts';
import { adminRoute, type Route } from '../route.ts';
import { oneAtATime, workingMediaType } from '../working-reply.ts';

type Deps = Pick<RouteDeps, 'tasks' | 'ledger' | 'drafts' | 'log' | 'now'>;

const bodySchema = z.object({
  models: z.record(z.string(), channelPriceSchema).optional().meta({
    description:
      'Prices by model id. Defaults to the prices of the configuration draft, which requires the `configuration` role.',
  }),
  channels: z
    .record(z.string(), z.record(z.string(), channelPriceSchema))
    .optional()
    .meta({ description: 'Prices of channels that have their own, by channel and model.' }),
  since: z
    .int()
    .nonnegative()
    .meta({ description: 'Unix seconds, inclusive. Covers tasks created at or after this time.' }),
  account: z.string().optional(),
  model: z.string().optional(),
});

export function tryPrices({ tasks, ledger, drafts, log, now }: Deps): Route {
  const alone = oneAtATime('This node is already trying prices.');
  return adminRoute({
    operationId: 'tryPrices',
    access: 'amounts',
    summary: 'Try other prices on past tasks',
    description:
      'Computes, from the recorded facts, what successful tasks would have been charged and would have earned at other prices. Synchronous images are computed from their ledger entries. Refunds are excluded from both sides. Changes nothing. The response is one line of JSON per second, `{"progress":{"tasks"}}`, and finally `{"result":…}` or `{"error":…}`. The work stops when the caller disconnects. Each node runs only one such request at a time.',
    method: 'post',
    paths: ['/admin/v1/prices/try'],
    input: z.object({ body: bodySchema }),
    success: { description: 'Lines of JSON.', mediaType: workingMediaType },
    errors: ['concurrency_limit_exceeded'],
    async handle({ body, meta, operator, roles }) {
      const { models, channels = {}, since, account, model } = body;
      if (models === undefined) requireAccess({ name: operator, roles }, 'configuration');
      const prices = models === undefined ? pricesOf(await drafts.config()) : { models, channels };
      const asked = { prices, since, now: now(), ...defined({ account, model }) };
      const deps = {
        list: tasks.list.bind(tasks),
        entriesOfTask: (task: string) => ledger.entriesOfTask(task),
        settledImages: ledger.settledImages.bind(ledger),
      };
      return alone({
        run: async (watching) => present(await carryOut({ ...asked, ...watching }, deps)),
        signal: meta.closed(),
        onError: (err) => log.error({ err, operator }, 'prices could not be tried'),
      });
    },
  });
}

function pricesOf({ models, channels }: GatewayConfig): OtherPrices {
  const own = channels.map(({ id, models: served }) => {
    const priced = Object.entries(served).flatMap(([model, { price }]) =>
      price === undefined ? [] : [[model, price] as const],
    );
    return [id, Object.fromEntries(priced)] as const;
  });
  return {
    models: Object.fromEntries(models.map(({ id, price }) => [id, price])),
    channels: Object.fromEntries(own),
  };
}

function present({ total, byModel, byAccount, unpriced }: Tried): object {
  const list = <Key>(sums: ReadonlyMap<Key, Sum>, name: string) =>
    [...sums]
      .toSorted(([, one], [, other]) => Number(other.after - other.before - (one.after - one.before)))
      .map(([key, sum]) => ({ [name]: key ?? null, ...presentSum(sum) }));
  return {
    ...presentSum(total),
    by_model: list(byModel, 'model'),
    by_account: list(byAccount, 'account'),
    unpriced_tasks: unpriced,
  };
}

function presentSum({ tasks, before, after, cost, costUnknown, unpriced }: Sum) {
  return {
    tasks,
    before: formatMicros(before),
    after: formatMicros(after),
    difference: formatMicros(after - before),
    cost: formatMicros(cost),
    cost_unknown: costUnknown,
    margin_before: formatMicros(before - cost),
    margin_after: formatMicros(after - cost),
    unpriced,
  };
}
