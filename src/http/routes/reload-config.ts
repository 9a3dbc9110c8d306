import { z } from 'zod';
import { GatewayError, serviceUnavailable } from '../../errors/errors.ts';
import { optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import {
  configChangeSchema,
  configSchema,
  presentConfig,
  presentConfigChange,
} from '../presenters/config.ts';
import { replyPublished } from '../published-config.ts';
import { jsonReply, settingRoute, type Reply, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'nodes' | 'configurations' | 'previewConfig' | 'publishConfig' | 'log'>;

export function reloadConfig(deps: Deps): Route {
  const { nodes, publishConfig, log } = deps;
  return settingRoute({
    operationId: 'reloadConfig',
    access: 'configuration',
    summary: 'Publish gateway.yaml to all processes',
    description:
      'Reads the file of the process that handles the request, checks it and publishes it. Responds once every process has loaded the file or has reported why it cannot (`nodes[].refused`), and after five seconds at the latest. A file with errors changes nothing.',
    method: 'post',
    paths: ['/admin/v1/config/reload'],
    input: z.object({
      body: z.object({
        dry_run: z
          .boolean()
          .default(false)
          .meta({ description: 'If true, nothing is published, and the response says what would change.' }),
        reason: optionalReason,
      }),
    }),
    success: {
      description: 'The active configuration, and which processes run it.',
      schema: configSchema.extend({
        changes: z
          .array(configChangeSchema)
          .optional()
          .meta({ description: 'What this process’s file would change. Present only for a dry run.' }),
      }),
    },
    async handle({ body, operator }) {
      if (body.dry_run) return { reply: await preview(deps), changes: [] };
      const result = await publishConfig(operator, body.reason);
      if (!result.ok) throw notLoaded(result.violations);
      const { head, changes } = result;
      log.info({ version: head.version, actor: operator }, 'the configuration file was published');
      return { reply: await replyPublished(head, nodes), changes };
    },
  });
}

async function preview({ nodes, configurations, previewConfig }: Deps): Promise<Reply> {
  const result = await previewConfig();
  if (!result.ok) throw notLoaded(result.violations);
  const [head] = await Promise.all([configurations.head(), nodes.refresh()]);
  if (head === undefined) throw serviceUnavailable('no configuration was published');
  return jsonReply({ ...presentConfig(head, nodes.all()), changes: result.changes.map(presentConfigChange) });
}

function notLoaded(violations: readonly string[]): GatewayError {
  return new GatewayError('invalid_parameter', `The file was not loaded: ${violations.join('; ')}`);
}
