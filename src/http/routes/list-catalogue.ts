import { taskKinds } from '../../base/task-kind.ts';
import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export const catalogueModelSchema = z
  .object({
    object: z.literal('catalogue.model'),
    id: z.string(),
    kind: z.enum(taskKinds),
    owned_by: z.string(),
    minimum: z.string(),
    lines: z
      .array(
        z.object({
          measure: z.string(),
          price: z.string(),
          when: z.record(z.string(), z.unknown()),
          beyond: z.number(),
        }),
      )
      .meta({
        description: 'Default prices, close to the upstreams’ published prices. Check them before you sell.',
      }),
    channels: z.array(
      z.object({
        id: z.string(),
        provider: z.string(),
        base_url: z.string(),
        upstream: z.string().meta({ description: 'The upstream’s name for the model.' }),
      }),
    ),
  })
  .meta({ id: 'CatalogueModel' });

export function listCatalogue({ exampleCatalogue }: Pick<RouteDeps, 'exampleCatalogue'>): Route {
  return adminRoute({
    operationId: 'listCatalogue',
    access: 'read',
    isShownWhole: true,
    summary: 'List models that a draft can add',
    description: 'The models of gateway.example.yaml, with the vendors that serve them and their prices.',
    method: 'get',
    paths: ['/admin/v1/config/catalogue'],
    input: z.object({}),
    success: {
      description: 'The models, in file order.',
      schema: listSchema(catalogueModelSchema),
    },
    async handle() {
      const { channels, models } = await exampleCatalogue();
      const data = models.map(({ id: model, kind, owned_by, price: { minimum, lines } }) => ({
        object: 'catalogue.model',
        id: model,
        kind,
        owned_by,
        minimum,
        lines: lines.map(({ measure, price, when, beyond }) => ({ measure, price, when, beyond })),
        channels: channels.flatMap(({ id, provider, base_url, models: served }) => {
          const own = served[model];
          return own === undefined ? [] : [{ id, provider, base_url, upstream: own.upstream }];
        }),
      }));
      return jsonReply({ object: 'list', data });
    },
  });
}
