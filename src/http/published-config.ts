import type { ConfigurationHead } from '../store/configurations.ts';
import type { RouteDeps } from './deps.ts';
import { presentConfig } from './presenters/config.ts';
import { jsonReply, type Reply } from './route.ts';

export async function replyPublished(
  head: ConfigurationHead,
  nodes: Pick<RouteDeps['nodes'], 'untilDecided' | 'all'>,
): Promise<Reply> {
  await nodes.untilDecided(head.version);
  return jsonReply(presentConfig(head, nodes.all()));
}
