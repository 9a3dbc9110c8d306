import { z } from 'zod';
import { serviceUnavailable } from '../../errors/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { configSchema, presentConfig } from '../presenters/config.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export function getConfig({ nodes, configurations }: Pick<RouteDeps, 'nodes' | 'configurations'>): Route {
  return adminRoute({
    operationId: 'getConfig',
    access: 'read',
    isShownWhole: true,
    summary: 'Get the published configuration and the processes that run it',
    description: 'The text is not included, because it may contain secrets.',
    method: 'get',
    paths: ['/admin/v1/config'],
    input: z.object({}),
    success: { description: 'The newest published configuration.', schema: configSchema },
    async handle() {
      const [head] = await Promise.all([configurations.head(), nodes.refresh()]);
      if (head === undefined) throw serviceUnavailable('no configuration was published');
      return jsonReply(presentConfig(head, nodes.all()));
    },
  });
}
