import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { modelSchema, presentModel } from '../presenters/model.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

const offerSchema = z.object({
  channel: z.string(),
  upstream: z.string().meta({ description: 'The name of the model there.' }),
  enabled: z.boolean().meta({ description: 'Whether the channel accepts new tasks.' }),
});

type Deps = Pick<RouteDeps, 'catalogue' | 'channelSwitches'>;

export function listOfferedModels({ catalogue, channelSwitches }: Deps): Route {
  return adminRoute({
    operationId: 'listOfferedModels',
    access: 'read',
    summary: 'List all models with their prices and the channels that offer them',
    method: 'get',
    paths: ['/admin/v1/models'],
    input: z.object({}),
    success: {
      description: 'All of the running configuration.',
      schema: listSchema(
        modelSchema
          .extend({ channels: z.array(offerSchema).meta({ description: 'Switched off ones too.' }) })
          .meta({ id: 'OfferedModel' }),
      ),
    },
    async handle() {
      await channelSwitches.refresh();
      const everybody = { account: '', key: '', assetUrls: true };
      const { channels } = catalogue.current();
      const data = catalogue.models(everybody).map((model) => ({
        ...presentModel(model, catalogue.offered(model, everybody)),
        channels: channels.flatMap(({ id, enabled, models }) => {
          const upstream = models[model.id]?.upstream;
          if (upstream === undefined) return [];
          return [{ channel: id, upstream, enabled: enabled && channelSwitches.find(id)?.enabled !== false }];
        }),
      }));
      return jsonReply({ object: 'list', data });
    },
  });
}
