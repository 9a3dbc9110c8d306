import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { keyScopes } from '../../base/key-scope.ts';
import { presentSpent, spentSchema } from '../presenters/cap.ts';
import { jsonReply, keyRoute } from '../route.ts';
import type { Route } from '../route.ts';

export function getKey({ ledger, catalogue }: Pick<RouteDeps, 'ledger' | 'catalogue'>): Route {
  return keyRoute({
    operationId: 'getKey',
    scope: 'any',
    summary: "The key's limits, and what it has used of them",
    description:
      'Amounts are decimal strings with six places. Those of a key that replaced another one are shared by both.',
    tag: 'Account',
    method: 'get',
    paths: ['/v1/key'],
    input: z.object({}),
    success: {
      description: 'The key of the request.',
      schema: z
        .object({
          object: z.literal('key'),
          id: z.string(),
          account: z.string(),
          currency: z.string(),
          scopes: z.array(z.enum(keyScopes)),
          duration_max: z.number().nullable().meta({ description: 'Seconds of a video; null: no limit.' }),
          resolution_max: z.string().nullable().meta({ description: 'null: no limit.' }),
          requests_per_minute: z.int().nullable().meta({ description: 'null: no limit.' }),
          concurrent_tasks: z.int().nullable().meta({ description: 'null: no limit.' }),
          spent: spentSchema,
          models: z
            .array(z.object({ model: z.string(), spent: spentSchema }))
            .meta({ description: 'Models for which the key has a cap.' }),
        })
        .meta({ id: 'OwnKey' }),
    },
    async handle({ caller }) {
      const { account, key, caps } = caller;
      const useOf = async (of: 'key' | 'model', by: { readonly model?: string }) =>
        (await ledger.uses(account, { key, ...by })).get(of);
      const models = [...(caps?.models ?? [])].map(async ([model, limits]) => ({
        model,
        spent: presentSpent(await useOf('model', { model }), limits),
      }));
      return jsonReply({
        object: 'key',
        id: key,
        account,
        currency: catalogue.current().currency,
        scopes: [...caller.scopes],
        duration_max: caller.secondsMax ?? null,
        resolution_max: caller.resolutionMax ?? null,
        requests_per_minute: caller.requestsPerMinute ?? null,
        concurrent_tasks: caller.concurrentTasks ?? null,
        spent: presentSpent(await useOf('key', {}), caps?.all),
        models: await Promise.all(models),
      });
    },
  });
}
