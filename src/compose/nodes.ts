import { createNodes, type Nodes } from '../control/nodes.ts';
import { isUnsearchable } from '../routing/channels.ts';
import type { Core } from './core.ts';

export function openNodes(core: Core): Nodes {
  return createNodes({
    store: core.stores.nodes,
    channels: () => (core.runningConfig.state().refused === undefined ? core.config().channels : undefined),
    isUnsearchable: (at) => isUnsearchable(core.channels, at),
    isForgotten: core.stores.requests.isForgotten,
    onError: (err) => core.log.warn({ err }, 'the gateway’s processes could not be read'),
  });
}
