import { fieldChanges } from '../../base/field-changes.ts';
import { z } from 'zod';
import { channelParams, findChannel, optionalReason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { channelSchema, presentChannel } from '../presenters/channel.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'catalogue' | 'channelStates' | 'channelSwitches' | 'readHealth' | 'now'>;

const body = z.object({
  enabled: z.boolean(),
  reason: optionalReason,
});

export function setChannel(deps: Deps): Route {
  const { catalogue, channelStates, channelSwitches, readHealth, now } = deps;
  return settingRoute({
    operationId: 'setChannel',
    access: 'configuration',
    summary: 'Switch a channel off or on for new tasks',
    description: 'Takes effect on every node within a few seconds. Tasks in flight remain on their channel.',
    method: 'post',
    paths: ['/admin/v1/channels/:channel'],
    input: z.object({ params: channelParams, body }),
    success: { description: 'The channel.', schema: channelSchema },
    errors: ['channel_not_found'],
    async handle({ params, body: { enabled, reason }, operator }) {
      const channel = findChannel(catalogue, params.channel);
      const wasOn = channelSwitches.find(channel.id)?.enabled ?? true;
      await channelStates.set({ id: channel.id, enabled, reason, by: operator, at: now() });
      await channelSwitches.refresh();
      const reply = jsonReply(presentChannel(channel, channelSwitches, await readHealth()));
      return { reply, changes: fieldChanges({ enabled: wasOn }, { enabled }) };
    },
  });
}
