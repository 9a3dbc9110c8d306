import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import type { RouteDeps } from '../deps.ts';
import { configSchema, presentConfig } from '../presenters/config.ts';
import { adminRoute, jsonReply } from '../route.ts';
import type { Route } from '../route.ts';

export function reloadConfig({
  nodes,
  publishConfig,
  log,
}: Pick<RouteDeps, 'nodes' | 'publishConfig' | 'log'>): Route {
  return adminRoute({
    operationId: 'reloadConfig',
    summary: 'Publish gateway.yaml to all processes',
    description:
      'Reads the file of the process that answers, checks it and publishes it. Answers when every process has taken it, or has refused it because it cannot load it there (`nodes[].refused`), and after five seconds at most. A file with mistakes changes nothing.',
    tag: 'Operators',
    method: 'post',
    paths: ['/admin/v1/config/reload'],
    input: z.object({}),
    success: { description: 'What is in force now, and where.', schema: configSchema },
    errors: ['invalid_parameter'],
    async handle({ operator }) {
      const result = await publishConfig(operator);
      if (!result.ok) {
        const { violations } = result;
        throw new GatewayError('invalid_parameter', `The file was not loaded: ${violations.join('; ')}`);
      }
      const { head } = result;
      log.info({ version: head.version, actor: operator }, 'the configuration file was published');
      await nodes.untilDecided(head.version);
      return jsonReply(presentConfig(head, nodes.all()));
    },
  });
}
