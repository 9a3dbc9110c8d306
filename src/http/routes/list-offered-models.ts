import { z } from 'zod';
import type { ModelOrigin } from '../../models/facts-table.ts';
import type { RouteDeps } from '../deps.ts';
import { modelSchema, presentModel } from '../presenters/model.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

const originSchema = z.object({
  source: z.string().meta({ description: 'The SDK and its version, or the page’s subject.' }),
  read: z.string().meta({ description: 'The day or month when the source was read.' }),
});

export const offerSchema = z.object({
  channel: z.string(),
  upstream: z.string().meta({ description: 'The vendor’s name for the model.' }),
  enabled: z.boolean().meta({ description: 'Whether the channel accepts new tasks.' }),
  facts: originSchema.nullable().meta({
    description: 'The source of the model’s facts. Null if the facts are in gateway.yaml.',
  }),
  retirement: originSchema
    .extend({
      on: z
        .string()
        .meta({ description: 'The first day (UTC) on which the vendor no longer serves the model.' }),
    })
    .nullable()
    .meta({ description: 'Null if the vendor has not announced a shutdown of the model.' }),
});

type Deps = Pick<RouteDeps, 'catalogue' | 'channelSwitches'>;

export function listOfferedModels({ catalogue, channelSwitches }: Deps): Route {
  return adminRoute({
    operationId: 'listOfferedModels',
    access: 'read',
    isShownWhole: true,
    summary: 'List all models with their prices and the channels that offer them',
    method: 'get',
    paths: ['/admin/v1/models'],
    input: z.object({}),
    success: {
      description: 'All models of the running configuration.',
      schema: listSchema(
        modelSchema
          .extend({
            channels: z.array(offerSchema).meta({
              description: 'Includes channels that are switched off.',
            }),
          })
          .meta({ id: 'OfferedModel' }),
      ),
    },
    async handle() {
      await channelSwitches.refresh();
      const everybody = { account: '', key: '', assetUrls: true };
      const isEnabled = (id: string) =>
        catalogue.channel(id)?.enabled === true && channelSwitches.find(id)?.enabled !== false;
      const served = catalogue.served();
      const data = catalogue.models(everybody).map((model) => ({
        ...presentModel(model, catalogue.offered(model, everybody)),
        channels: served
          .filter(({ model: id }) => id === model.id)
          .map(({ channel, upstream, origin }) => ({
            channel,
            upstream,
            enabled: isEnabled(channel),
            ...presentOrigin(origin),
          })),
      }));
      return jsonReply({ object: 'list', data });
    },
  });
}

function presentOrigin(origin: ModelOrigin | undefined) {
  if (origin === undefined) return { facts: null, retirement: null };
  const { retirement = null, ...facts } = origin;
  return { facts, retirement };
}
