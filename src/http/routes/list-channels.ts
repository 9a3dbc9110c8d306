import { z } from 'zod';
import type { RouteDeps } from '../deps.ts';
import { channelSchema, presentChannel } from '../presenters/channel.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'catalogue' | 'channelSwitches' | 'channelHealth'>;

export function listChannels(deps: Deps): Route {
  return adminRoute({
    operationId: 'listChannels',
    summary: 'List channels with their switches, limits and health',
    tag: 'Operators',
    method: 'get',
    paths: ['/admin/v1/channels'],
    input: z.object({}),
    success: {
      description: 'All of the running configuration, without secrets.',
      schema: z.object({ object: z.literal('list'), data: z.array(channelSchema) }),
    },
    errors: [],
    async handle() {
      await deps.channelSwitches.refresh();
      const { channels } = deps.catalogue.current();
      const data = channels.map((channel) => presentChannel(channel, deps));
      return jsonReply({ object: 'list', data });
    },
  });
}
