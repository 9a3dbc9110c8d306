import { z } from 'zod';
import type { ChannelConfig } from '../../config/gateway-file.ts';
import { fieldChanges } from '../../base/field-changes.ts';
import { defined } from '../../base/defined.ts';
import { GatewayError, invalidParameter } from '../../errors/errors.ts';
import { channelParams, findChannel, reason } from '../admin-input.ts';
import type { RouteDeps } from '../deps.ts';
import { channelSchema, presentChannel } from '../presenters/channel.ts';
import { jsonReply, settingRoute, type Route } from '../route.ts';

type Deps = Pick<RouteDeps, 'catalogue' | 'overrideCircuit' | 'channelSwitches' | 'readHealth' | 'now'>;

const secondsMax = 366 * 24 * 60 * 60;
/** The year 9999, which stands for "until an operator closes it". */
const forever = 253_402_300_799_000;

const body = z.object({
  credential: z.string().min(1),
  model: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Only this model. Defaults to the whole credential.' }),
  state: z
    .enum(['open', 'closed'])
    .meta({ description: 'While the circuit is `open`, nothing is submitted through it.' }),
  seconds: z.int().min(1).max(secondsMax).optional().meta({
    description:
      'How long the circuit stays open before one request is tried. By default it stays open until an operator closes it.',
  }),
  reason,
});

export function setCircuit(deps: Deps): Route {
  const { catalogue, overrideCircuit, channelSwitches, readHealth, now } = deps;
  return settingRoute({
    operationId: 'setCircuit',
    access: 'configuration',
    summary: 'Open or close the circuit of a credential',
    description:
      'Takes effect on every node within five seconds. Tasks in flight continue. Tasks that are waiting to be submitted move to their next channel, or keep waiting.',
    method: 'post',
    paths: ['/admin/v1/channels/:channel/circuits'],
    input: z.object({ params: channelParams, body }),
    success: { description: 'The channel, with its circuits in `health`.', schema: channelSchema },
    errors: ['channel_not_found', 'action_not_possible'],
    async handle({ params, body: asked, operator: by }) {
      const channel = findChannel(catalogue, params.channel);
      checkTarget(asked, channel);
      const { credential, model, state, seconds, reason: why } = asked;
      const until = seconds === undefined ? forever : now() + seconds * 1000;
      const target = { channel: channel.id, credential, ...defined({ model }) };
      const before = await overrideCircuit(target, { state, until, by, reason: why });
      if (before === undefined) throw new GatewayError('action_not_possible', 'This circuit is not open.');
      const place = [credential, model].filter((name) => name !== undefined).join('.');
      return {
        reply: jsonReply(presentChannel(channel, channelSwitches, await readHealth())),
        changes: fieldChanges({ [place]: before }, { [place]: state }),
      };
    },
  });
}

/** Rejects a misspelt credential or model, which would open a circuit that protects nothing. */
function checkTarget(asked: z.output<typeof body>, channel: ChannelConfig): void {
  const { credential, model } = asked;
  const param = !channel.credentials.some(({ id }) => id === credential)
    ? 'credential'
    : model !== undefined && !Object.hasOwn(channel.models, model)
      ? 'model'
      : undefined;
  if (param === undefined) return;
  throw invalidParameter(param, `The channel ${channel.id} has no ${param} ${asked[param]}.`);
}
